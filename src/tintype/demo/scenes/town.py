"""Where people live: lights out of focus, rain on a pane, towers at dusk, fireworks, walls in the sun."""

import numpy as np

from tintype.demo.canvas import Canvas, Plane, linear_color, mix, smoothstep
from tintype.demo.sky_palettes import SKY_PALETTES

LAMPS = ("#ffb45e", "#ffd9a0", "#ff6a4a", "#7fb6ff", "#ffe9c8", "#58e0c0", "#ff8fc0")
WITH_MAST = 0.25
PANE = 0.57
"""How much of a window's place is glass."""


def bokeh(canvas: Canvas, mood: str) -> None:
    """A street at night, far out of focus."""
    _street(canvas, mood, lamps=120, largest=0.05)


def rain(canvas: Canvas, mood: str) -> None:
    """The same street through a wet pane: every drop holds it upside down."""
    _street(canvas, mood, lamps=46, largest=0.13)
    canvas.paint(linear_color("#33405a"), np.full_like(canvas.y, 0.16))
    behind = canvas.light.copy()
    for number in range(900):
        size = 0.003 + 0.024 * (number / 900) ** 6 * canvas.rng.uniform(0.5, 1.2)
        _drop(canvas, behind, canvas.rng.uniform(0, 1), canvas.rng.uniform(0, 1), size)


def skyline(canvas: Canvas, mood: str) -> None:
    """Towers in three depths of haze, windows lit."""
    palette = SKY_PALETTES[mood]
    canvas.fill(*palette.sky, bottom=0.8)
    canvas.glow(linear_color(palette.sun), 0.3, 0.72, 0.25, 0.4 * palette.strength)
    for number in range(4):
        share = number / 3
        tops = _roofs(canvas, share)
        body = mix(linear_color(palette.haze), linear_color(palette.near), 0.25 + 0.7 * share)
        mask = smoothstep(canvas.y - tops, -0.0006, 0.0006)
        canvas.paint(
            mix(body, linear_color(palette.haze), smoothstep(canvas.y, 0.55, 1.1) * 0.5 * (1 - share)), mask
        )
        _windows(canvas, mask * smoothstep(canvas.y - tops, 0.008, 0.012), share)


def fireworks(canvas: Canvas, mood: str) -> None:
    """Bursts of sparks above dark roofs."""
    canvas.fill("#050714", "#10142c", "#2b2240")
    colours = ("#ffb347", "#ff5f5f", "#ffe6a8") if mood == "warm" else ("#6fb7ff", "#c58bff", "#9affd8")
    for number, colour in enumerate(colours):
        x, y = 0.22 + 0.28 * number + canvas.rng.uniform(-0.05, 0.05), canvas.rng.uniform(0.2, 0.46)
        canvas.glow(linear_color(colour), x, y, 0.12, 0.35)
        _burst(canvas, x, y, canvas.rng.uniform(0.17, 0.26), linear_color(colour))
    tops = _roofs(canvas, 1.0) * 0.5 + 0.5
    canvas.paint(linear_color("#04050b"), smoothstep(canvas.y - tops, -0.0006, 0.0006))
    _windows(canvas, smoothstep(canvas.y - tops, 0.01, 0.014), 0.6)


def arches(canvas: Canvas, mood: str) -> None:
    """Three plastered arches, each inside the other, and the sun across them."""
    walls = ("#e9b8a0", "#d98a6c", "#b8604a") if mood == "rose" else ("#f1e3c6", "#e0b35c", "#c58a35")
    plaster = 1 + 0.04 * canvas.noise(0.9)
    canvas.light[:] = linear_color(walls[0]) * plaster
    slant = canvas.x * 0.8 - (1 - canvas.y) * canvas.aspect_ratio * 0.55
    for number, code in enumerate((*walls[1:], "#3f86b8")):
        half, top = 0.36 - 0.095 * number, 0.2 + 0.11 * number
        inside = _arch(canvas, 0.5 + 0.025 * number, half, top)
        cast = _arch(canvas, 0.5 + 0.025 * number + 0.05, half, top + 0.06)
        is_sky = number == len(walls) - 1
        colour = canvas.gradient("#2f78b0", "#a9d3e6") if is_sky else linear_color(code) * plaster
        shadow = 1 if is_sky else 1 - 0.62 * (1 - cast)
        canvas.paint(colour * shadow, inside)
    floor = smoothstep(canvas.y, 0.879, 0.881)
    canvas.paint(linear_color(walls[0]) * plaster * 0.8 * (1 - 0.5 * smoothstep(slant, 0.33, 0.345)), floor)
    canvas.light *= 1.08 - 0.25 * smoothstep(slant, 0.1, 0.9)


def _street(canvas: Canvas, mood: str, *, lamps: int, largest: float) -> None:
    canvas.fill("#070a16", "#131a33", "#2b1f33" if mood == "warm" else "#10283a", "#0a0a12")
    colours = LAMPS[:5] if mood == "warm" else LAMPS[2:]
    canvas.glow(linear_color("#ff9c50" if mood == "warm" else "#4a90d0"), 0.5, 0.55, 0.4, 0.14)
    for number in range(lamps):
        size = largest * (0.25 + 0.75 * canvas.rng.random() ** 2 * (0.4 + number / lamps))
        y = float(np.clip(canvas.rng.normal(0.52, 0.17), 0.02, 0.98))
        colour = linear_color(str(canvas.rng.choice(colours))) * canvas.rng.uniform(0.1, 0.75)
        _lamp(canvas, canvas.rng.uniform(0, 1), y, size, colour)


def _arch(canvas: Canvas, x: float, half: float, top: float) -> Plane:
    spring = top + half / canvas.aspect_ratio
    across, up = (
        canvas.x - np.float32(x),
        np.minimum((canvas.y - np.float32(spring)) * canvas.aspect_ratio, 0),
    )
    return smoothstep(np.hypot(across, up), half + 0.0012, half - 0.0012)


def _lamp(canvas: Canvas, x: float, y: float, size: float, colour: Plane) -> None:
    part = canvas.near_point(x, y, size * 1.1)
    near = part.distance(x, y) / size
    part.add_light(colour, smoothstep(near, 1.03, 0.94) * (0.7 + 0.5 * near**4))


def _drop(canvas: Canvas, behind: Plane, x: float, y: float, size: float) -> None:
    part = canvas.near_point(x, y, size * 1.3)
    across = (part.x - np.float32(x)) / size
    down = (part.y - np.float32(y)) * canvas.aspect_ratio / size
    near = np.hypot(across * (1 + 0.15 * down), down * 0.88)
    bend = 0.03 + 6 * size * (0.6 + near)
    from_x = np.clip((x - across * bend) * canvas.width, 0, canvas.width - 1).astype(np.int32)
    from_y = np.clip((y - down * bend / canvas.aspect_ratio) * canvas.height, 0, canvas.height - 1).astype(
        np.int32
    )
    lens = 1.7 - 1.1 * smoothstep(near, 0.4, 1) + 0.35 * smoothstep(down, 0, 0.9)
    spark = 0.5 * smoothstep(np.hypot(across + 0.3, down + 0.4), 0.3, 0)
    part.paint(behind[:, from_y, from_x] * lens + spark + 0.01, smoothstep(near, 1.05, 0.9))


def _roofs(canvas: Canvas, share: float) -> Plane:
    tops = np.ones((1, canvas.width), np.float32)
    at = 0
    while at < canvas.width:
        width = int(canvas.width * canvas.rng.uniform(0.025, 0.06) * (0.7 + share))
        tall = canvas.rng.uniform(0.12, 0.3) + (0.2 * canvas.rng.random() ** 4) + 0.14 * (1 - share)
        tops[0, at : at + width] = 0.92 - tall
        if canvas.rng.random() < WITH_MAST:
            tops[0, at + width // 2 : at + width // 2 + 2] -= 0.05
        at += width
    return tops


def _windows(canvas: Canvas, mask: Plane, share: float) -> None:
    size = (0.004 + 0.0055 * share) * canvas.width
    down, across = np.arange(canvas.height) / size, np.arange(canvas.width) / size / 0.8
    cells = int(down[-1]) + 1, int(across[-1]) + 1
    awake = np.repeat(canvas.rng.random(cells[1] // 5 + 1), 5)[: cells[1]]  # some houses sleep
    lit = (canvas.rng.random(cells) ** (3 + 14 * awake)).astype(np.float32)
    pane = ((down % 1 < PANE)[:, None] & (across % 1 < PANE)).astype(np.float32)
    glow = lit[down.astype(int)][:, across.astype(int)] * pane
    canvas.add_light(linear_color("#ffcf80"), glow * mask * (0.2 + 0.6 * share))


def _burst(canvas: Canvas, x: float, y: float, size: float, colour: Plane) -> None:
    count, steps = 130, 90
    angle = canvas.rng.uniform(0, 2 * np.pi, (count, 1))
    speed = size * np.sqrt(canvas.rng.uniform(0.3, 1, (count, 1)))
    time = np.linspace(0.15, 1, steps)[None, :]
    reach = speed * (1 - np.exp(-2.2 * time)) / 0.89
    columns = ((x + np.cos(angle) * reach) * canvas.width).astype(int)
    rows = ((y + (np.sin(angle) * reach + 0.07 * time**2) / canvas.aspect_ratio) * canvas.height).astype(int)
    power = np.broadcast_to((0.15 + time**3) * canvas.rng.uniform(0.4, 1, (count, 1)), rows.shape)
    inside = (rows > 0) & (rows < canvas.height - 2) & (columns > 0) & (columns < canvas.width - 2)
    light = colour[:, :, 0] * power[inside].astype(np.float32)
    for down, across, share in ((0, 0, 1.0), (0, 1, 0.6), (1, 0, 0.6), (1, 1, 0.4)):
        canvas.light[:, rows[inside] + down, columns[inside] + across] += light * share
