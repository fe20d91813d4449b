"""Things that grow: firs in snow, birches in fog, a leaf against the light, a meadow."""

import math

import numpy as np

from tintype.demo.light import Plane, Sheet, edge, mix, tone
from tintype.demo.noise import line


def firs(sheet: Sheet, mood: str) -> None:
    """A forest in snow, fading into falling flakes."""
    pale, dark, snow = (
        ("#dfe6ea", "#1d2f33", "#f4f8fa") if mood == "day" else ("#56698c", "#0b1526", "#b9cbe6")
    )
    sheet.fill(pale, pale if mood == "day" else "#9fa9c4")
    rough = sheet.noise(0.7, lowest=24)
    for number in range(5):
        share = number / 4
        body = mix(tone(pale), tone(dark), 0.12 + 0.8 * share)
        white = mix(tone(pale), tone(snow), 0.3 + 0.7 * share)
        for _ in range(14 - 2 * number):
            height = (0.3 + 0.5 * share) * sheet.rng.uniform(0.6, 1.1)
            place = sheet.rng.uniform(-0.02, 1.02), 0.74 + 0.2 * share, height
            _fir(sheet, rough, place, body, white)
        drift = 0.74 + 0.17 * share + 0.015 * line(sheet.rng, sheet.width, 2.2)
        sheet.paint(mix(white, tone(pale), 0.3), edge(sheet.y - drift, -0.01, 0.03))
    _flakes(sheet, tone(snow) * 1.6)


def birches(sheet: Sheet, mood: str) -> None:
    """White trunks one behind the other in fog."""
    fog, ground, leaves = (
        ("#e3e8dc", "#7d8f52", "#9db04f") if mood == "spring" else ("#f0dfc2", "#a8642f", "#e09a35")
    )
    sheet.fill(fog, fog, ground, bottom=1.1)
    sheet.paint(tone(leaves), edge(sheet.noise(1.5, lowest=4) + (0.5 - sheet.y) * 2.6, -0.4, 3.2) * 0.75)
    litter = sheet.noise(1.0, stretch=3, lowest=5)
    sheet.paint(tone(ground) * (1 + 0.2 * litter), edge(sheet.y, 0.62, 0.95) * 0.8)
    sheet.glow(tone("#fff3d0"), 0.5, 0.3, 0.3, 0.35)
    bark = sheet.noise(0.9, stretch=0.3, lowest=8)
    for number in range(34):
        share = number / 33
        _trunk(sheet, bark, tone(fog), share)
    sheet.paint(tone(fog), edge(sheet.y, 0.7, 1.0) * edge(litter, -1, 2.5) * 0.25)


def leaf(sheet: Sheet, mood: str) -> None:
    """A leaf against the light, close enough to see its veins."""
    flesh, vein, shade = (
        ("#7fae2c", "#d8ee86", "#16350f") if mood == "green" else ("#d2691e", "#ffd27a", "#571608")
    )
    angle = sheet.rng.uniform(0.5, 0.8)
    along = (sheet.x - 0.5) * math.cos(angle) + (sheet.y - 0.5) * sheet.tall * math.sin(angle)
    off = (
        (sheet.y - 0.5) * sheet.tall * math.cos(angle)
        - (sheet.x - 0.5) * math.sin(angle)
        + 0.05 * np.square(along)
    )
    cells = np.abs(sheet.noise(0.9, lowest=30))
    sheet.light[:] = mix(
        tone(shade),
        tone(flesh),
        np.clip(0.75 - 0.5 * np.abs(off) - 0.5 * along + 0.1 * sheet.noise(1.8), 0.05, 1),
    )
    side = (
        along
        - np.abs(off) * 1.15
        + 0.25 * np.square(off)
        + 0.006 * sheet.noise(2.0)
        + np.float32(0.045) * (off > 0)
    )
    near_side = np.abs((side * 9) % 1 - 0.5) / 9
    small = np.abs(((off * 1.3 + along * 0.35 * np.sign(off)) * 42 + 0.5 * sheet.noise(1.6)) % 1 - 0.5)
    sheet.light *= 1 - 0.16 * edge(cells, 0.5, 0.0)
    sheet.paint(tone(vein), edge(small, 0.09, 0.02) * 0.22)
    sheet.light *= 1 - 0.35 * edge(near_side, 0.022, 0.004)
    sheet.paint(tone(vein), edge(near_side, 0.0042, 0.0012) * 0.8)
    sheet.light *= 1 - 0.4 * edge(np.abs(off), 0.03, 0.008)
    sheet.paint(tone(vein), edge(np.abs(off), 0.0105 - 0.006 * 0.5, 0.004))
    sheet.glow(tone(vein), 0.2, 0.1, 0.4, 0.25)
    _dew(sheet, 26)


def meadow(sheet: Sheet, mood: str) -> None:
    """Flowers, sharp in one plane and soft before and behind it."""
    sky, grass, blooms = (
        (("#9cc4de", "#dfe9d6"), "#4f7a2e", ("#d8352a", "#e8503a", "#f2efe0"))
        if mood == "poppies"
        else (("#e8b98a", "#f6dfae"), "#5b6f4a", ("#7a5fb0", "#9a78c8", "#c8a6dc"))
    )
    sheet.fill(*sky, grass, "#1f3314", bottom=1.05)
    sheet.light *= 1 + 0.12 * sheet.noise(1.4, stretch=0.4, lowest=3) * edge(sheet.y, 0.4, 0.7)
    sheet.glow(tone("#fff0c8"), 0.75, 0.12, 0.3, 0.5)
    for number in range(190):
        share = (number / 189) ** 1.4
        size = (0.006 + 0.034 * share) * sheet.rng.uniform(0.6, 1.3)
        blur = 0.15 + 0.85 * abs(share - 0.35)
        y = 0.5 + 0.46 * share + sheet.rng.uniform(-0.05, 0.05)
        _bloom(sheet, sheet.rng.uniform(0, 1), y, size, tone(str(sheet.rng.choice(blooms))), blur=blur)


def _trunk(sheet: Sheet, bark: Plane, fog: Plane, share: float) -> None:
    half = 0.004 + 0.022 * share**2.2
    x, lean = sheet.rng.uniform(0, 1), 0.03 * sheet.rng.standard_normal()
    first = max(0, int((x - half - abs(lean)) * sheet.width))
    columns = slice(first, int((x + half + abs(lean)) * sheet.width) + 2)
    across = (sheet.x[:, columns] - np.float32(x) - np.float32(lean) * (sheet.y - 0.5)) / half
    foot = 0.68 + 0.36 * share
    scars = edge(bark[:, columns] * (1.2 - 0.5 * sheet.y), 0.9, 1.4) * 0.85 * share
    white = mix(tone("#f6f1e6") * (0.82 - 0.4 * np.clip(across, -1, 1)), tone("#2b2723"), scars)
    part = sheet.light[:, :, columns]
    mask = edge(np.abs(across), 1.06, 0.9) * edge(sheet.y, foot, foot - 0.05)
    part += (mix(fog, white, 0.12 + 0.88 * share) - part) * mask


def _fir(sheet: Sheet, rough: Plane, place: tuple[float, float, float], body: Plane, white: Plane) -> None:
    x, foot, height = place
    half = height * sheet.tall * 0.19
    rows = slice(max(0, int((foot - height) * sheet.height)), int(min(1, foot + 0.03) * sheet.height))
    columns = slice(max(0, int((x - half) * sheet.width)), max(1, int((x + half) * sheet.width)))
    down = (sheet.y[rows] - np.float32(foot - height)) / height
    away = np.abs(sheet.x[:, columns] - np.float32(x)) / half
    needles = rough[rows, columns]
    tier = (down * 13 + away * 1.6 + 0.22 * needles) % 1
    width = np.clip(down, 0, 1) ** 0.85 * (0.72 + 0.28 * tier) + 0.05 * needles * down
    load = edge(tier + 0.25 * needles, 0.75, 0.1) * (0.35 + 0.4 * edge(away, 0, 0.5))
    part = sheet.light[:, rows, columns]
    part += (mix(body, white, load) - part) * edge(width - away, 0, 0.05)


def _flakes(sheet: Sheet, colour: Plane) -> None:
    for number in range(260):
        size = 0.0012 + 0.005 * (number / 260) ** 6
        _bloom(sheet, sheet.rng.uniform(0, 1), sheet.rng.uniform(0, 1), size, colour, blur=0.9)


def _bloom(sheet: Sheet, x: float, y: float, size: float, colour: Plane, *, blur: float) -> None:
    part = sheet.around(x, y, size * (1 + blur))
    across, down = part.x - np.float32(x), (part.y - np.float32(y)) * part.tall
    near = np.hypot(across, down * 1.25) / size
    part.paint(colour * (0.75 - 0.4 * down / size), edge(near, 1 + blur, max(0.0, 1 - blur)) * 0.9)


def _dew(sheet: Sheet, count: int) -> None:
    for _ in range(count):
        x, y, size = sheet.rng.uniform(0, 1), sheet.rng.uniform(0, 1), 0.004 + 0.012 * sheet.rng.random() ** 2
        _bloom(sheet, x + size * 0.4, y + size * 0.5, size * 1.1, tone("#081004"), blur=0.5)
        _bloom(sheet, x, y, size, tone("#dff0b8"), blur=0.12)
        _bloom(sheet, x - size * 0.35, y - size * 0.35, size * 0.22, tone("#ffffff") * 3, blur=0.5)
