"""Water: the sun's path on the sea, and surf seen from above."""

import numpy as np

from tintype.demo.canvas import Canvas, linear_color, mix, smoothstep
from tintype.demo.noise import fractal, project_texture
from tintype.demo.scenes.landscape import open_sky
from tintype.demo.sky_palettes import SKY_PALETTES

HORIZON = 0.46


def sea(canvas: Canvas, mood: str) -> None:
    """A horizon and the glitter that leads to it."""
    palette = SKY_PALETTES[mood]
    sun = canvas.rng.uniform(0.35, 0.65)
    open_sky(canvas, palette, sun=(sun, HORIZON - 0.09), bottom=HORIZON, cover=0.8)
    canvas.disc(linear_color(palette.sun) * 1.6, sun, HORIZON - 0.09, 0.028, blur=0.06)
    first = int(HORIZON * canvas.height)
    depth = (canvas.y[first:] - HORIZON) / (1 - HORIZON) + 0.006
    waves = fractal(canvas.rng, (512, 512), 1.25, stretch=2.5, lowest=3)
    swell = project_texture(waves, (canvas.x - 0.5) / depth * 0.09, 0.16 / depth) * smoothstep(depth, 0, 0.1)
    chop = project_texture(waves, (canvas.x - 0.2) / depth * 0.23, 0.4 / depth) * smoothstep(depth, 0, 0.2)
    slope = 0.65 * swell + 0.5 * chop
    mirrored = mix(
        linear_color(palette.sky[-1]),
        linear_color(palette.sky[0]),
        np.clip(0.25 + 0.7 * depth + 0.12 * slope, 0, 1),
    )
    deep = mix(mirrored, linear_color(palette.near), 0.3 + 0.35 * depth)
    water = deep * (1 + 0.28 * slope)
    path = np.exp(-np.square((canvas.x - sun) / (0.035 + 0.2 * depth)))
    sparks = smoothstep(slope + 1.1 * path, 0.9, 1.9) * path
    water += linear_color(palette.sun) * palette.strength * (sparks * 1.1 + path * 0.14 * (1 - depth))
    canvas.light[:, first:] = water
    canvas.paint(linear_color(palette.haze), np.exp(-np.abs(canvas.y - HORIZON) / 0.01) * 0.5)


def shore(canvas: Canvas, mood: str) -> None:
    """Surf on sand from straight above: three lines of foam, deep water in a corner."""
    sand, wet, clear, deep = (
        ("#e7cfa6", "#b8946a", "#63c9c4", "#0b5c7d")
        if mood == "tropic"
        else ("#4a4a4e", "#26282d", "#5f8c94", "#0e2f3f")
    )
    lean = canvas.rng.uniform(0.2, 0.45)
    reach = (canvas.y - 0.5) * canvas.aspect_ratio + (canvas.x - 0.5) * lean + 0.02 * canvas.noise(2.0)
    ruffle = canvas.noise(1.5, lowest=4)
    canvas.light[:] = linear_color(sand) * (1 + 0.06 * canvas.noise(0.7))
    into = 0.12 - reach + 0.012 * ruffle
    canvas.paint(linear_color(wet), smoothstep(into, -0.07, 0.0) * 0.85)
    canvas.paint(
        mix(linear_color(clear), linear_color(deep), smoothstep(into + 0.02 * ruffle, 0.05, 0.6)),
        smoothstep(into, 0, 0.2) * 0.35 + smoothstep(into, 0, 0.012) * 0.65,
    )
    canvas.light *= 1 + 0.05 * canvas.noise(1.2, stretch=2.5, lowest=6)
    lace = np.abs(canvas.noise(1.15, lowest=10))
    for at, width, power in ((0.004, 0.03, 1.0), (0.16, 0.05, 0.9), (0.36, 0.04, 0.7)):
        front = smoothstep(into - 0.1 * at * np.roll(ruffle, int(at * 999), axis=1), at - 0.004, at + 0.004)
        trail = np.exp(-np.maximum(into - at, 0) / width) * front
        canvas.paint(
            linear_color("#f7faf6"), np.clip(trail * smoothstep(lace, 1.1 - trail, 0.1) * 1.3, 0, 1) * power
        )
