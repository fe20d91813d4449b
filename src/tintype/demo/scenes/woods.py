"""Things that grow: firs in snow, birches in fog, a leaf against the light, a meadow."""

import math

import numpy as np

from tintype.demo.canvas import Canvas, Plane, linear_color, mix, smoothstep
from tintype.demo.noise import rough_line


def firs(canvas: Canvas, mood: str) -> None:
    """A forest in snow, fading into falling flakes."""
    pale, dark, snow = (
        ("#dfe6ea", "#1d2f33", "#f4f8fa") if mood == "day" else ("#56698c", "#0b1526", "#b9cbe6")
    )
    canvas.fill(pale, pale if mood == "day" else "#9fa9c4")
    rough = canvas.noise(0.7, lowest=24)
    for number in range(5):
        share = number / 4
        body = mix(linear_color(pale), linear_color(dark), 0.12 + 0.8 * share)
        white = mix(linear_color(pale), linear_color(snow), 0.3 + 0.7 * share)
        for _ in range(14 - 2 * number):
            height = (0.3 + 0.5 * share) * canvas.rng.uniform(0.6, 1.1)
            place = canvas.rng.uniform(-0.02, 1.02), 0.74 + 0.2 * share, height
            _fir(canvas, rough, place, body, white)
        drift = 0.74 + 0.17 * share + 0.015 * rough_line(canvas.rng, canvas.width, 2.2)
        canvas.paint(mix(white, linear_color(pale), 0.3), smoothstep(canvas.y - drift, -0.01, 0.03))
    _flakes(canvas, linear_color(snow) * 1.6)


def birches(canvas: Canvas, mood: str) -> None:
    """White trunks one behind the other in fog."""
    fog, ground, leaves = (
        ("#e3e8dc", "#7d8f52", "#9db04f") if mood == "spring" else ("#f0dfc2", "#a8642f", "#e09a35")
    )
    canvas.fill(fog, fog, ground, bottom=1.1)
    canvas.paint(
        linear_color(leaves),
        smoothstep(canvas.noise(1.5, lowest=4) + (0.5 - canvas.y) * 2.6, -0.4, 3.2) * 0.75,
    )
    litter = canvas.noise(1.0, stretch=3, lowest=5)
    canvas.paint(linear_color(ground) * (1 + 0.2 * litter), smoothstep(canvas.y, 0.62, 0.95) * 0.8)
    canvas.glow(linear_color("#fff3d0"), 0.5, 0.3, 0.3, 0.35)
    bark = canvas.noise(0.9, stretch=0.3, lowest=8)
    for number in range(34):
        share = number / 33
        _trunk(canvas, bark, linear_color(fog), share)
    canvas.paint(linear_color(fog), smoothstep(canvas.y, 0.7, 1.0) * smoothstep(litter, -1, 2.5) * 0.25)


def leaf(canvas: Canvas, mood: str) -> None:
    """A leaf against the light, close enough to see its veins."""
    flesh, vein, shade = (
        ("#7fae2c", "#d8ee86", "#16350f") if mood == "green" else ("#d2691e", "#ffd27a", "#571608")
    )
    angle = canvas.rng.uniform(0.5, 0.8)
    along = (canvas.x - 0.5) * math.cos(angle) + (canvas.y - 0.5) * canvas.aspect_ratio * math.sin(angle)
    off = (
        (canvas.y - 0.5) * canvas.aspect_ratio * math.cos(angle)
        - (canvas.x - 0.5) * math.sin(angle)
        + 0.05 * np.square(along)
    )
    cells = np.abs(canvas.noise(0.9, lowest=30))
    canvas.light[:] = mix(
        linear_color(shade),
        linear_color(flesh),
        np.clip(0.75 - 0.5 * np.abs(off) - 0.5 * along + 0.1 * canvas.noise(1.8), 0.05, 1),
    )
    side = (
        along
        - np.abs(off) * 1.15
        + 0.25 * np.square(off)
        + 0.006 * canvas.noise(2.0)
        + np.float32(0.045) * (off > 0)
    )
    near_side = np.abs((side * 9) % 1 - 0.5) / 9
    small = np.abs(((off * 1.3 + along * 0.35 * np.sign(off)) * 42 + 0.5 * canvas.noise(1.6)) % 1 - 0.5)
    canvas.light *= 1 - 0.16 * smoothstep(cells, 0.5, 0.0)
    canvas.paint(linear_color(vein), smoothstep(small, 0.09, 0.02) * 0.22)
    canvas.light *= 1 - 0.35 * smoothstep(near_side, 0.022, 0.004)
    canvas.paint(linear_color(vein), smoothstep(near_side, 0.0042, 0.0012) * 0.8)
    canvas.light *= 1 - 0.4 * smoothstep(np.abs(off), 0.03, 0.008)
    canvas.paint(linear_color(vein), smoothstep(np.abs(off), 0.0105 - 0.006 * 0.5, 0.004))
    canvas.glow(linear_color(vein), 0.2, 0.1, 0.4, 0.25)
    _dew(canvas, 26)


def meadow(canvas: Canvas, mood: str) -> None:
    """Flowers, sharp in one plane and soft before and behind it."""
    sky, grass, blooms = (
        (("#9cc4de", "#dfe9d6"), "#4f7a2e", ("#d8352a", "#e8503a", "#f2efe0"))
        if mood == "poppies"
        else (("#e8b98a", "#f6dfae"), "#5b6f4a", ("#7a5fb0", "#9a78c8", "#c8a6dc"))
    )
    canvas.fill(*sky, grass, "#1f3314", bottom=1.05)
    canvas.light *= 1 + 0.12 * canvas.noise(1.4, stretch=0.4, lowest=3) * smoothstep(canvas.y, 0.4, 0.7)
    canvas.glow(linear_color("#fff0c8"), 0.75, 0.12, 0.3, 0.5)
    for number in range(190):
        share = (number / 189) ** 1.4
        size = (0.006 + 0.034 * share) * canvas.rng.uniform(0.6, 1.3)
        blur = 0.15 + 0.85 * abs(share - 0.35)
        y = 0.5 + 0.46 * share + canvas.rng.uniform(-0.05, 0.05)
        _bloom(
            canvas, canvas.rng.uniform(0, 1), y, size, linear_color(str(canvas.rng.choice(blooms))), blur=blur
        )


def _trunk(canvas: Canvas, bark: Plane, fog: Plane, share: float) -> None:
    half = 0.004 + 0.022 * share**2.2
    x, lean = canvas.rng.uniform(0, 1), 0.03 * canvas.rng.standard_normal()
    first = max(0, int((x - half - abs(lean)) * canvas.width))
    columns = slice(first, int((x + half + abs(lean)) * canvas.width) + 2)
    across = (canvas.x[:, columns] - np.float32(x) - np.float32(lean) * (canvas.y - 0.5)) / half
    foot = 0.68 + 0.36 * share
    scars = smoothstep(bark[:, columns] * (1.2 - 0.5 * canvas.y), 0.9, 1.4) * 0.85 * share
    white = mix(
        linear_color("#f6f1e6") * (0.82 - 0.4 * np.clip(across, -1, 1)), linear_color("#2b2723"), scars
    )
    part = canvas.light[:, :, columns]
    mask = smoothstep(np.abs(across), 1.06, 0.9) * smoothstep(canvas.y, foot, foot - 0.05)
    part += (mix(fog, white, 0.12 + 0.88 * share) - part) * mask


def _fir(canvas: Canvas, rough: Plane, place: tuple[float, float, float], body: Plane, white: Plane) -> None:
    x, foot, height = place
    half = height * canvas.aspect_ratio * 0.19
    rows = slice(max(0, int((foot - height) * canvas.height)), int(min(1, foot + 0.03) * canvas.height))
    columns = slice(max(0, int((x - half) * canvas.width)), max(1, int((x + half) * canvas.width)))
    down = (canvas.y[rows] - np.float32(foot - height)) / height
    away = np.abs(canvas.x[:, columns] - np.float32(x)) / half
    needles = rough[rows, columns]
    tier = (down * 13 + away * 1.6 + 0.22 * needles) % 1
    width = np.clip(down, 0, 1) ** 0.85 * (0.72 + 0.28 * tier) + 0.05 * needles * down
    load = smoothstep(tier + 0.25 * needles, 0.75, 0.1) * (0.35 + 0.4 * smoothstep(away, 0, 0.5))
    part = canvas.light[:, rows, columns]
    part += (mix(body, white, load) - part) * smoothstep(width - away, 0, 0.05)


def _flakes(canvas: Canvas, colour: Plane) -> None:
    for number in range(260):
        size = 0.0012 + 0.005 * (number / 260) ** 6
        _bloom(canvas, canvas.rng.uniform(0, 1), canvas.rng.uniform(0, 1), size, colour, blur=0.9)


def _bloom(canvas: Canvas, x: float, y: float, size: float, colour: Plane, *, blur: float) -> None:
    part = canvas.near_point(x, y, size * (1 + blur))
    across, down = part.x - np.float32(x), (part.y - np.float32(y)) * part.aspect_ratio
    near = np.hypot(across, down * 1.25) / size
    part.paint(colour * (0.75 - 0.4 * down / size), smoothstep(near, 1 + blur, max(0.0, 1 - blur)) * 0.9)


def _dew(canvas: Canvas, count: int) -> None:
    for _ in range(count):
        x, y, size = (
            canvas.rng.uniform(0, 1),
            canvas.rng.uniform(0, 1),
            0.004 + 0.012 * canvas.rng.random() ** 2,
        )
        _bloom(canvas, x + size * 0.4, y + size * 0.5, size * 1.1, linear_color("#081004"), blur=0.5)
        _bloom(canvas, x, y, size, linear_color("#dff0b8"), blur=0.12)
        _bloom(canvas, x - size * 0.35, y - size * 0.35, size * 0.22, linear_color("#ffffff") * 3, blur=0.5)
