"""Water: the sun's path on the sea, and surf seen from above."""

import numpy as np

from tintype.demo.hours import HOURS
from tintype.demo.light import Sheet, edge, mix, tone
from tintype.demo.noise import fractal, spread
from tintype.demo.scenes.open_air import open_sky

HORIZON = 0.46


def sea(sheet: Sheet, mood: str) -> None:
    """A horizon and the glitter that leads to it."""
    hour = HOURS[mood]
    sun = sheet.rng.uniform(0.35, 0.65)
    open_sky(sheet, hour, sun=(sun, HORIZON - 0.09), bottom=HORIZON, cover=0.8)
    sheet.disc(tone(hour.sun) * 1.6, sun, HORIZON - 0.09, 0.028, blur=0.06)
    first = int(HORIZON * sheet.height)
    depth = (sheet.y[first:] - HORIZON) / (1 - HORIZON) + 0.006
    waves = fractal(sheet.rng, (512, 512), 1.25, stretch=2.5, lowest=3)
    swell = spread(waves, (sheet.x - 0.5) / depth * 0.09, 0.16 / depth) * edge(depth, 0, 0.1)
    chop = spread(waves, (sheet.x - 0.2) / depth * 0.23, 0.4 / depth) * edge(depth, 0, 0.2)
    slope = 0.65 * swell + 0.5 * chop
    mirrored = mix(tone(hour.sky[-1]), tone(hour.sky[0]), np.clip(0.25 + 0.7 * depth + 0.12 * slope, 0, 1))
    deep = mix(mirrored, tone(hour.near), 0.3 + 0.35 * depth)
    water = deep * (1 + 0.28 * slope)
    path = np.exp(-np.square((sheet.x - sun) / (0.035 + 0.2 * depth)))
    sparks = edge(slope + 1.1 * path, 0.9, 1.9) * path
    water += tone(hour.sun) * hour.strength * (sparks * 1.1 + path * 0.14 * (1 - depth))
    sheet.light[:, first:] = water
    sheet.paint(tone(hour.haze), np.exp(-np.abs(sheet.y - HORIZON) / 0.01) * 0.5)


def shore(sheet: Sheet, mood: str) -> None:
    """Surf on sand from straight above: three lines of foam, deep water in a corner."""
    sand, wet, clear, deep = (
        ("#e7cfa6", "#b8946a", "#63c9c4", "#0b5c7d")
        if mood == "tropic"
        else ("#4a4a4e", "#26282d", "#5f8c94", "#0e2f3f")
    )
    lean = sheet.rng.uniform(0.2, 0.45)
    reach = (sheet.y - 0.5) * sheet.tall + (sheet.x - 0.5) * lean + 0.02 * sheet.noise(2.0)
    ruffle = sheet.noise(1.5, lowest=4)
    sheet.light[:] = tone(sand) * (1 + 0.06 * sheet.noise(0.7))
    into = 0.12 - reach + 0.012 * ruffle
    sheet.paint(tone(wet), edge(into, -0.07, 0.0) * 0.85)
    sheet.paint(
        mix(tone(clear), tone(deep), edge(into + 0.02 * ruffle, 0.05, 0.6)),
        edge(into, 0, 0.2) * 0.35 + edge(into, 0, 0.012) * 0.65,
    )
    sheet.light *= 1 + 0.05 * sheet.noise(1.2, stretch=2.5, lowest=6)
    lace = np.abs(sheet.noise(1.15, lowest=10))
    for at, width, power in ((0.004, 0.03, 1.0), (0.16, 0.05, 0.9), (0.36, 0.04, 0.7)):
        front = edge(into - 0.1 * at * np.roll(ruffle, int(at * 999), axis=1), at - 0.004, at + 0.004)
        trail = np.exp(-np.maximum(into - at, 0) / width) * front
        sheet.paint(tone("#f7faf6"), np.clip(trail * edge(lace, 1.1 - trail, 0.1) * 1.3, 0, 1) * power)
