"""Wide country: ridges behind ridges, a lake that mirrors them, balloons above them, dunes."""

import numpy as np

from tintype.demo.hours import HOURS, Hour
from tintype.demo.light import Plane, Sheet, edge, mix, tone
from tintype.demo.noise import fractal, line, spread


def ridges(sheet: Sheet, mood: str) -> None:
    """Six ridges, each paler than the one before it, with firs on the nearest."""
    hour = HOURS[mood]
    open_sky(sheet, hour, sun=(sheet.rng.uniform(0.25, 0.75), 0.36))
    mountains(sheet, hour, top=0.36, bottom=0.92, count=6)
    ground = 0.9 + 0.025 * line(sheet.rng, sheet.width, 1.6, lowest=2)
    silhouette(sheet, treetops(sheet, ground, tallest=0.11), tone(hour.near) * 0.5)


def lake(sheet: Sheet, mood: str) -> None:
    """Ridges above their own image in water that is not quite still."""
    hour = HOURS[mood]
    shore = 0.56
    open_sky(sheet, hour, sun=(sheet.rng.uniform(0.3, 0.7), 0.3), bottom=shore)
    mountains(sheet, hour, top=0.24, bottom=shore - 0.04, count=4)
    ground = shore - 0.012 + 0.004 * line(sheet.rng, sheet.width, 1.5, lowest=2)
    silhouette(sheet, treetops(sheet, ground, tallest=0.05), tone(hour.near) * 0.7)
    mirror(sheet, shore, dim=0.72)


def balloons(sheet: Sheet, mood: str) -> None:
    """Hot-air balloons at different distances over hazy hills."""
    hour = HOURS[mood]
    open_sky(sheet, hour, sun=(0.2, 0.58))
    mountains(sheet, hour, top=0.66, bottom=0.95, count=4)
    for size, x, y in ((0.035, 0.3, 0.47), (0.05, 0.84, 0.5), (0.07, 0.47, 0.3), (0.13, 0.7, 0.24)):
        _balloon(sheet, hour, x + sheet.rng.uniform(-0.04, 0.04), y, size)


def dunes(sheet: Sheet, mood: str) -> None:
    """Crests that part light from shadow, wind ripples in front."""
    hour = HOURS[mood]
    lit, dark = (tone("#f6b976"), tone("#5b2c22")) if mood == "gold" else (tone("#eeb79a"), tone("#3a2c55"))
    open_sky(sheet, hour, sun=(0.14, 0.2), bottom=0.5)
    ripples = fractal(sheet.rng, (512, 512), 1.5, stretch=6, lowest=16)
    for number, (x, top) in enumerate(((0.3, 0.38), (0.78, 0.42), (0.36, 0.5), (0.7, 0.64))):
        peak = x + sheet.rng.uniform(-0.08, 0.08)
        away = np.sqrt(np.square(sheet.x - peak) + 0.0016) - 0.04
        crest = top + (0.28 + 0.1 * number) * away**1.25 + 0.006 * line(sheet.rng, sheet.width, 2.4)
        below = np.maximum(sheet.y - crest, 0)
        drop = np.maximum(sheet.y - top, 0)
        spine = peak - 0.14 * np.sin(drop * 11 + number) * np.sqrt(drop) + 0.35 * drop
        shade = edge(sheet.x - spine, -0.003, 0.004 + 0.25 * drop**1.5) * (1 - 0.5 * edge(drop, 0.05, 0.5))
        wind = spread(ripples, sheet.x * 1.2 + below, np.sqrt(below + 0.01) * (3 - 0.5 * number))
        sand = mix(lit, dark, 0.08 + 0.85 * shade + 0.25 * below) * (1 + 0.07 * wind * (1 - shade))
        sand = mix(sand, tone(hour.haze), 0.5 * (1 - number / 3) ** 1.3)
        sheet.paint(sand, edge(sheet.y - crest, -0.0012, 0.0012))


def open_sky(
    sheet: Sheet, hour: Hour, *, sun: tuple[float, float], bottom: float = 0.7, cover: float = 0.5
) -> None:
    """The hour's sky, its sun, and thin cloud that takes the sun's colour."""
    sheet.fill(*hour.sky, bottom=bottom)
    veil = edge(sheet.noise(1.7, stretch=3.5), 0.2, 2.6) * (1 - edge(sheet.y, bottom * 0.6, bottom)) * cover
    sheet.paint(mix(tone(hour.sun), tone(hour.haze), 0.4), veil)
    sheet.glow(tone(hour.sun), *sun, 0.16, 0.55 * hour.strength)
    sheet.glow(tone(hour.sun), *sun, 0.03, 1.6 * hour.strength)


def mountains(sheet: Sheet, hour: Hour, *, top: float, bottom: float, count: int) -> None:
    """Ridges from far to near; mist lies in the valleys between."""
    haze, near = tone(hour.haze), tone(hour.near)
    for number in range(count):
        share = number / max(count - 1, 1)
        rough = line(sheet.rng, sheet.width, 1.6 + 0.4 * share, lowest=1.0)
        peaks = -np.abs(line(sheet.rng, sheet.width, 1.55, lowest=1.5)) * (1 - share)
        crest = top + (bottom - top) * share**0.9 + (0.035 + 0.02 * share) * (rough * 0.8 + peaks)
        mist = edge(sheet.y, float(crest.min()), float(crest.max()) + 0.16) * (0.85 - 0.5 * share)
        body = mix(haze, near, 0.16 + 0.78 * share**1.2)
        first = max(0, int(crest.min() * sheet.height) - 2)
        mask = edge(sheet.y[first:] - crest, -0.001, 0.001)
        sheet.paint(mix(body, haze, mist[first:]), mask, rows=slice(first, None))


def treetops(sheet: Sheet, ground: Plane, *, tallest: float) -> Plane:
    """The outline of firs that stand on the ground."""
    outline = ground.copy()
    columns = np.arange(sheet.width)
    for _ in range(150):
        at = int(sheet.rng.integers(0, sheet.width))
        height = tallest * sheet.rng.uniform(0.35, 1) ** 1.5
        half = max(3, int(height * sheet.height * 0.22))
        span = slice(max(0, at - half), min(sheet.width, at + half))
        away = np.abs(columns[span] - at) / half
        branches = away + 0.12 * np.sin(away * 34 + at)
        outline[0, span] = np.minimum(outline[0, span], ground[0, at] - height * np.clip(1 - branches, 0, 1))
    return outline


def silhouette(sheet: Sheet, outline: Plane, colour: Plane) -> None:
    """Everything below the outline in one dark colour."""
    first = max(0, int(outline.min() * sheet.height) - 2)
    sheet.paint(colour, edge(sheet.y[first:] - outline, -0.0008, 0.0008), rows=slice(first, None))


def mirror(sheet: Sheet, shore: float, *, dim: float, restless: float = 1.0) -> None:
    """Below the shore, the image of what is above it, broken by ripples that grow towards us."""
    first = int(shore * sheet.height)
    below = np.arange(sheet.height - first, dtype=np.float32)[:, None] / sheet.height
    depth = 0.02 + below
    ripple = spread(
        fractal(sheet.rng, (512, 512), 1.4, stretch=2.0), (sheet.x - 0.5) / depth * 0.08, 0.03 / depth
    )
    rows = (first - 1 - (below + ripple * 0.012 * restless * np.sqrt(depth)) * sheet.height).astype(np.int32)
    columns = np.arange(sheet.width)[None, :]
    above = sheet.light[:, np.clip(rows, 0, first - 1), columns]
    sheet.light[:, first:] = above * (dim + 0.05 * ripple) * (1 - 0.4 * below)


def _balloon(sheet: Sheet, hour: Hour, x: float, y: float, size: float) -> None:
    first, second = sheet.rng.choice(
        ["#c8452f", "#e8a33a", "#2f6f8f", "#efe2c8", "#7b3b63"], 2, replace=False
    )
    far = 0.55 * (1 - min(1, size / 0.12))
    sheet = sheet.around(x, y, size * 2)
    across = (sheet.x - np.float32(x)) / size
    down = (sheet.y - np.float32(y)) * sheet.tall / size
    width = np.maximum(np.where(down < 0, 1, 1 - 0.55 * np.clip(down, 0, 2) ** 1.6), 0.2)
    round_ = np.hypot(across / width, np.minimum(down, 0))
    stripe = edge(np.sin(np.arcsin(np.clip(across / width, -1, 1)) * 5 + size * 90), -0.15, 0.15)
    cloth = mix(tone(first), tone(second), stripe) * (0.75 - 0.45 * across + 0.1 * down)
    basket = edge(np.abs(across), 0.13, 0.11) * edge(np.abs(down - 1.62), 0.13, 0.11)
    ropes = edge(np.abs(np.abs(across) - 0.11), 0.025, 0.01) * edge(np.abs(down - 1.4), 0.2, 0.18)
    sheet.paint(mix(cloth, tone(hour.haze), far), edge(round_, 1.02, 0.98) * edge(down, 1.27, 1.23))
    sheet.paint(mix(tone("#4a3020"), tone(hour.haze), far), np.maximum(basket, ropes))
