"""Where people live: lights out of focus, rain on a pane, towers at dusk, fireworks, walls in the sun."""

import numpy as np

from tintype.demo.hours import HOURS
from tintype.demo.light import Plane, Sheet, edge, mix, tone

LAMPS = ("#ffb45e", "#ffd9a0", "#ff6a4a", "#7fb6ff", "#ffe9c8", "#58e0c0", "#ff8fc0")
WITH_MAST = 0.25
PANE = 0.57
"""How much of a window's place is glass."""


def bokeh(sheet: Sheet, mood: str) -> None:
    """A street at night, far out of focus."""
    _street(sheet, mood, lamps=120, largest=0.05)


def rain(sheet: Sheet, mood: str) -> None:
    """The same street through a wet pane: every drop holds it upside down."""
    _street(sheet, mood, lamps=46, largest=0.13)
    sheet.paint(tone("#33405a"), np.full_like(sheet.y, 0.16))
    behind = sheet.light.copy()
    for number in range(900):
        size = 0.003 + 0.024 * (number / 900) ** 6 * sheet.rng.uniform(0.5, 1.2)
        _drop(sheet, behind, sheet.rng.uniform(0, 1), sheet.rng.uniform(0, 1), size)


def skyline(sheet: Sheet, mood: str) -> None:
    """Towers in three depths of haze, windows lit."""
    hour = HOURS[mood]
    sheet.fill(*hour.sky, bottom=0.8)
    sheet.glow(tone(hour.sun), 0.3, 0.72, 0.25, 0.4 * hour.strength)
    for number in range(4):
        share = number / 3
        tops = _roofs(sheet, share)
        body = mix(tone(hour.haze), tone(hour.near), 0.25 + 0.7 * share)
        mask = edge(sheet.y - tops, -0.0006, 0.0006)
        sheet.paint(mix(body, tone(hour.haze), edge(sheet.y, 0.55, 1.1) * 0.5 * (1 - share)), mask)
        _windows(sheet, mask * edge(sheet.y - tops, 0.008, 0.012), share)


def fireworks(sheet: Sheet, mood: str) -> None:
    """Bursts of sparks above dark roofs."""
    sheet.fill("#050714", "#10142c", "#2b2240")
    colours = ("#ffb347", "#ff5f5f", "#ffe6a8") if mood == "warm" else ("#6fb7ff", "#c58bff", "#9affd8")
    for number, colour in enumerate(colours):
        x, y = 0.22 + 0.28 * number + sheet.rng.uniform(-0.05, 0.05), sheet.rng.uniform(0.2, 0.46)
        sheet.glow(tone(colour), x, y, 0.12, 0.35)
        _burst(sheet, x, y, sheet.rng.uniform(0.17, 0.26), tone(colour))
    tops = _roofs(sheet, 1.0) * 0.5 + 0.5
    sheet.paint(tone("#04050b"), edge(sheet.y - tops, -0.0006, 0.0006))
    _windows(sheet, edge(sheet.y - tops, 0.01, 0.014), 0.6)


def arches(sheet: Sheet, mood: str) -> None:
    """Three plastered arches, each inside the other, and the sun across them."""
    walls = ("#e9b8a0", "#d98a6c", "#b8604a") if mood == "rose" else ("#f1e3c6", "#e0b35c", "#c58a35")
    plaster = 1 + 0.04 * sheet.noise(0.9)
    sheet.light[:] = tone(walls[0]) * plaster
    slant = sheet.x * 0.8 - (1 - sheet.y) * sheet.tall * 0.55
    for number, code in enumerate((*walls[1:], "#3f86b8")):
        half, top = 0.36 - 0.095 * number, 0.2 + 0.11 * number
        inside = _arch(sheet, 0.5 + 0.025 * number, half, top)
        cast = _arch(sheet, 0.5 + 0.025 * number + 0.05, half, top + 0.06)
        is_sky = number == len(walls) - 1
        colour = sheet.gradient("#2f78b0", "#a9d3e6") if is_sky else tone(code) * plaster
        shadow = 1 if is_sky else 1 - 0.62 * (1 - cast)
        sheet.paint(colour * shadow, inside)
    floor = edge(sheet.y, 0.879, 0.881)
    sheet.paint(tone(walls[0]) * plaster * 0.8 * (1 - 0.5 * edge(slant, 0.33, 0.345)), floor)
    sheet.light *= 1.08 - 0.25 * edge(slant, 0.1, 0.9)


def _street(sheet: Sheet, mood: str, *, lamps: int, largest: float) -> None:
    sheet.fill("#070a16", "#131a33", "#2b1f33" if mood == "warm" else "#10283a", "#0a0a12")
    colours = LAMPS[:5] if mood == "warm" else LAMPS[2:]
    sheet.glow(tone("#ff9c50" if mood == "warm" else "#4a90d0"), 0.5, 0.55, 0.4, 0.14)
    for number in range(lamps):
        size = largest * (0.25 + 0.75 * sheet.rng.random() ** 2 * (0.4 + number / lamps))
        y = float(np.clip(sheet.rng.normal(0.52, 0.17), 0.02, 0.98))
        colour = tone(str(sheet.rng.choice(colours))) * sheet.rng.uniform(0.1, 0.75)
        _lamp(sheet, sheet.rng.uniform(0, 1), y, size, colour)


def _arch(sheet: Sheet, x: float, half: float, top: float) -> Plane:
    spring = top + half / sheet.tall
    across, up = sheet.x - np.float32(x), np.minimum((sheet.y - np.float32(spring)) * sheet.tall, 0)
    return edge(np.hypot(across, up), half + 0.0012, half - 0.0012)


def _lamp(sheet: Sheet, x: float, y: float, size: float, colour: Plane) -> None:
    part = sheet.around(x, y, size * 1.1)
    near = part.distance(x, y) / size
    part.shine(colour, edge(near, 1.03, 0.94) * (0.7 + 0.5 * near**4))


def _drop(sheet: Sheet, behind: Plane, x: float, y: float, size: float) -> None:
    part = sheet.around(x, y, size * 1.3)
    across = (part.x - np.float32(x)) / size
    down = (part.y - np.float32(y)) * sheet.tall / size
    near = np.hypot(across * (1 + 0.15 * down), down * 0.88)
    bend = 0.03 + 6 * size * (0.6 + near)
    from_x = np.clip((x - across * bend) * sheet.width, 0, sheet.width - 1).astype(np.int32)
    from_y = np.clip((y - down * bend / sheet.tall) * sheet.height, 0, sheet.height - 1).astype(np.int32)
    lens = 1.7 - 1.1 * edge(near, 0.4, 1) + 0.35 * edge(down, 0, 0.9)
    spark = 0.5 * edge(np.hypot(across + 0.3, down + 0.4), 0.3, 0)
    part.paint(behind[:, from_y, from_x] * lens + spark + 0.01, edge(near, 1.05, 0.9))


def _roofs(sheet: Sheet, share: float) -> Plane:
    tops = np.ones((1, sheet.width), np.float32)
    at = 0
    while at < sheet.width:
        width = int(sheet.width * sheet.rng.uniform(0.025, 0.06) * (0.7 + share))
        tall = sheet.rng.uniform(0.12, 0.3) + (0.2 * sheet.rng.random() ** 4) + 0.14 * (1 - share)
        tops[0, at : at + width] = 0.92 - tall
        if sheet.rng.random() < WITH_MAST:
            tops[0, at + width // 2 : at + width // 2 + 2] -= 0.05
        at += width
    return tops


def _windows(sheet: Sheet, mask: Plane, share: float) -> None:
    size = (0.004 + 0.0055 * share) * sheet.width
    down, across = np.arange(sheet.height) / size, np.arange(sheet.width) / size / 0.8
    cells = int(down[-1]) + 1, int(across[-1]) + 1
    awake = np.repeat(sheet.rng.random(cells[1] // 5 + 1), 5)[: cells[1]]  # some houses sleep
    lit = (sheet.rng.random(cells) ** (3 + 14 * awake)).astype(np.float32)
    pane = ((down % 1 < PANE)[:, None] & (across % 1 < PANE)).astype(np.float32)
    glow = lit[down.astype(int)][:, across.astype(int)] * pane
    sheet.shine(tone("#ffcf80"), glow * mask * (0.2 + 0.6 * share))


def _burst(sheet: Sheet, x: float, y: float, size: float, colour: Plane) -> None:
    count, steps = 130, 90
    angle = sheet.rng.uniform(0, 2 * np.pi, (count, 1))
    speed = size * np.sqrt(sheet.rng.uniform(0.3, 1, (count, 1)))
    time = np.linspace(0.15, 1, steps)[None, :]
    reach = speed * (1 - np.exp(-2.2 * time)) / 0.89
    columns = ((x + np.cos(angle) * reach) * sheet.width).astype(int)
    rows = ((y + (np.sin(angle) * reach + 0.07 * time**2) / sheet.tall) * sheet.height).astype(int)
    power = np.broadcast_to((0.15 + time**3) * sheet.rng.uniform(0.4, 1, (count, 1)), rows.shape)
    inside = (rows > 0) & (rows < sheet.height - 2) & (columns > 0) & (columns < sheet.width - 2)
    light = colour[:, :, 0] * power[inside].astype(np.float32)
    for down, across, share in ((0, 0, 1.0), (0, 1, 0.6), (1, 0, 0.6), (1, 1, 0.4)):
        sheet.light[:, rows[inside] + down, columns[inside] + across] += light * share
