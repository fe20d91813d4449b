"""Wide country: ridges behind ridges, a lake that mirrors them, balloons above them, dunes."""

import numpy as np

from tintype.demo.canvas import Canvas, Plane, linear_color, mix, smoothstep
from tintype.demo.noise import fractal, project_texture, rough_line
from tintype.demo.sky_palettes import SKY_PALETTES, SkyPalette


def ridges(canvas: Canvas, mood: str) -> None:
    """Six ridges, each paler than the one before it, with firs on the nearest."""
    palette = SKY_PALETTES[mood]
    open_sky(canvas, palette, sun=(canvas.rng.uniform(0.25, 0.75), 0.36))
    mountains(canvas, palette, top=0.36, bottom=0.92, count=6)
    ground = 0.9 + 0.025 * rough_line(canvas.rng, canvas.width, 1.6, lowest=2)
    silhouette(canvas, treetops(canvas, ground, tallest=0.11), linear_color(palette.near) * 0.5)


def lake(canvas: Canvas, mood: str) -> None:
    """Ridges above their own image in water that is not quite still."""
    palette = SKY_PALETTES[mood]
    shore = 0.56
    open_sky(canvas, palette, sun=(canvas.rng.uniform(0.3, 0.7), 0.3), bottom=shore)
    mountains(canvas, palette, top=0.24, bottom=shore - 0.04, count=4)
    ground = shore - 0.012 + 0.004 * rough_line(canvas.rng, canvas.width, 1.5, lowest=2)
    silhouette(canvas, treetops(canvas, ground, tallest=0.05), linear_color(palette.near) * 0.7)
    mirror(canvas, shore, dim=0.72)


def balloons(canvas: Canvas, mood: str) -> None:
    """Hot-air balloons at different distances over hazy hills."""
    palette = SKY_PALETTES[mood]
    open_sky(canvas, palette, sun=(0.2, 0.58))
    mountains(canvas, palette, top=0.66, bottom=0.95, count=4)
    for size, x, y in ((0.035, 0.3, 0.47), (0.05, 0.84, 0.5), (0.07, 0.47, 0.3), (0.13, 0.7, 0.24)):
        _balloon(canvas, palette, x + canvas.rng.uniform(-0.04, 0.04), y, size)


def dunes(canvas: Canvas, mood: str) -> None:
    """Crests that part light from shadow, wind ripples in front."""
    palette = SKY_PALETTES[mood]
    lit, dark = (
        (linear_color("#f6b976"), linear_color("#5b2c22"))
        if mood == "gold"
        else (linear_color("#eeb79a"), linear_color("#3a2c55"))
    )
    open_sky(canvas, palette, sun=(0.14, 0.2), bottom=0.5)
    ripples = fractal(canvas.rng, (512, 512), 1.5, stretch=6, lowest=16)
    for number, (x, top) in enumerate(((0.3, 0.38), (0.78, 0.42), (0.36, 0.5), (0.7, 0.64))):
        peak = x + canvas.rng.uniform(-0.08, 0.08)
        away = np.sqrt(np.square(canvas.x - peak) + 0.0016) - 0.04
        crest = top + (0.28 + 0.1 * number) * away**1.25 + 0.006 * rough_line(canvas.rng, canvas.width, 2.4)
        below = np.maximum(canvas.y - crest, 0)
        drop = np.maximum(canvas.y - top, 0)
        spine = peak - 0.14 * np.sin(drop * 11 + number) * np.sqrt(drop) + 0.35 * drop
        shade = smoothstep(canvas.x - spine, -0.003, 0.004 + 0.25 * drop**1.5) * (
            1 - 0.5 * smoothstep(drop, 0.05, 0.5)
        )
        wind = project_texture(ripples, canvas.x * 1.2 + below, np.sqrt(below + 0.01) * (3 - 0.5 * number))
        sand = mix(lit, dark, 0.08 + 0.85 * shade + 0.25 * below) * (1 + 0.07 * wind * (1 - shade))
        sand = mix(sand, linear_color(palette.haze), 0.5 * (1 - number / 3) ** 1.3)
        canvas.paint(sand, smoothstep(canvas.y - crest, -0.0012, 0.0012))


def open_sky(
    canvas: Canvas, palette: SkyPalette, *, sun: tuple[float, float], bottom: float = 0.7, cover: float = 0.5
) -> None:
    """The palette's sky, its sun, and thin cloud that takes the sun's colour."""
    canvas.fill(*palette.sky, bottom=bottom)
    veil = (
        smoothstep(canvas.noise(1.7, stretch=3.5), 0.2, 2.6)
        * (1 - smoothstep(canvas.y, bottom * 0.6, bottom))
        * cover
    )
    canvas.paint(mix(linear_color(palette.sun), linear_color(palette.haze), 0.4), veil)
    canvas.glow(linear_color(palette.sun), *sun, 0.16, 0.55 * palette.strength)
    canvas.glow(linear_color(palette.sun), *sun, 0.03, 1.6 * palette.strength)


def mountains(canvas: Canvas, palette: SkyPalette, *, top: float, bottom: float, count: int) -> None:
    """Ridges from far to near; mist lies in the valleys between."""
    haze, near = linear_color(palette.haze), linear_color(palette.near)
    for number in range(count):
        share = number / max(count - 1, 1)
        rough = rough_line(canvas.rng, canvas.width, 1.6 + 0.4 * share, lowest=1.0)
        peaks = -np.abs(rough_line(canvas.rng, canvas.width, 1.55, lowest=1.5)) * (1 - share)
        crest = top + (bottom - top) * share**0.9 + (0.035 + 0.02 * share) * (rough * 0.8 + peaks)
        mist = smoothstep(canvas.y, float(crest.min()), float(crest.max()) + 0.16) * (0.85 - 0.5 * share)
        body = mix(haze, near, 0.16 + 0.78 * share**1.2)
        first = max(0, int(crest.min() * canvas.height) - 2)
        mask = smoothstep(canvas.y[first:] - crest, -0.001, 0.001)
        canvas.paint(mix(body, haze, mist[first:]), mask, rows=slice(first, None))


def treetops(canvas: Canvas, ground: Plane, *, tallest: float) -> Plane:
    """The outline of firs that stand on the ground."""
    outline = ground.copy()
    columns = np.arange(canvas.width)
    for _ in range(150):
        at = int(canvas.rng.integers(0, canvas.width))
        height = tallest * canvas.rng.uniform(0.35, 1) ** 1.5
        half = max(3, int(height * canvas.height * 0.22))
        span = slice(max(0, at - half), min(canvas.width, at + half))
        away = np.abs(columns[span] - at) / half
        branches = away + 0.12 * np.sin(away * 34 + at)
        outline[0, span] = np.minimum(outline[0, span], ground[0, at] - height * np.clip(1 - branches, 0, 1))
    return outline


def silhouette(canvas: Canvas, outline: Plane, colour: Plane) -> None:
    """Everything below the outline in one dark colour."""
    first = max(0, int(outline.min() * canvas.height) - 2)
    canvas.paint(colour, smoothstep(canvas.y[first:] - outline, -0.0008, 0.0008), rows=slice(first, None))


def mirror(canvas: Canvas, shore: float, *, dim: float, restless: float = 1.0) -> None:
    """Below the shore, the image of what is above it, broken by ripples that grow towards us."""
    first = int(shore * canvas.height)
    below = np.arange(canvas.height - first, dtype=np.float32)[:, None] / canvas.height
    depth = 0.02 + below
    ripple = project_texture(
        fractal(canvas.rng, (512, 512), 1.4, stretch=2.0), (canvas.x - 0.5) / depth * 0.08, 0.03 / depth
    )
    rows = (first - 1 - (below + ripple * 0.012 * restless * np.sqrt(depth)) * canvas.height).astype(np.int32)
    columns = np.arange(canvas.width)[None, :]
    above = canvas.light[:, np.clip(rows, 0, first - 1), columns]
    canvas.light[:, first:] = above * (dim + 0.05 * ripple) * (1 - 0.4 * below)


def _balloon(canvas: Canvas, palette: SkyPalette, x: float, y: float, size: float) -> None:
    first, second = canvas.rng.choice(
        ["#c8452f", "#e8a33a", "#2f6f8f", "#efe2c8", "#7b3b63"], 2, replace=False
    )
    far = 0.55 * (1 - min(1, size / 0.12))
    canvas = canvas.near_point(x, y, size * 2)
    across = (canvas.x - np.float32(x)) / size
    down = (canvas.y - np.float32(y)) * canvas.aspect_ratio / size
    width = np.maximum(np.where(down < 0, 1, 1 - 0.55 * np.clip(down, 0, 2) ** 1.6), 0.2)
    round_ = np.hypot(across / width, np.minimum(down, 0))
    stripe = smoothstep(np.sin(np.arcsin(np.clip(across / width, -1, 1)) * 5 + size * 90), -0.15, 0.15)
    cloth = mix(linear_color(first), linear_color(second), stripe) * (0.75 - 0.45 * across + 0.1 * down)
    basket = smoothstep(np.abs(across), 0.13, 0.11) * smoothstep(np.abs(down - 1.62), 0.13, 0.11)
    ropes = smoothstep(np.abs(np.abs(across) - 0.11), 0.025, 0.01) * smoothstep(np.abs(down - 1.4), 0.2, 0.18)
    canvas.paint(
        mix(cloth, linear_color(palette.haze), far),
        smoothstep(round_, 1.02, 0.98) * smoothstep(down, 1.27, 1.23),
    )
    canvas.paint(mix(linear_color("#4a3020"), linear_color(palette.haze), far), np.maximum(basket, ropes))
