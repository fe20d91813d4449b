"""Looking up: the milky way, northern lights, the moon, clouds."""

import numpy as np

from tintype.demo.canvas import Canvas, Plane, linear_color, mix, smoothstep
from tintype.demo.noise import rough_line
from tintype.demo.scenes.landscape import mirror, mountains, silhouette, treetops
from tintype.demo.sky_palettes import SKY_PALETTES


def milky_way(canvas: Canvas, mood: str) -> None:
    """The band of our galaxy with its dust, above a black ridge."""
    palette = SKY_PALETTES["night"]
    canvas.fill("#02040b", "#060f22", "#0f2340", "#3b4a58" if mood == "warm" else "#1d4058")
    lean = canvas.rng.uniform(0.35, 0.6)
    across = (
        (canvas.x - 0.5) * 0.9 + (canvas.y - 0.45) * canvas.aspect_ratio * lean + 0.03 * canvas.noise(1.8)
    )
    band = np.exp(-np.square(across / 0.13))
    dust = smoothstep(canvas.noise(1.6) - 2.2 * np.exp(-np.square(across / 0.04)) + 0.9, -1.4, 1.2)
    canvas.add_light(linear_color("#8fa3d8"), band * (0.10 + 0.28 * dust))
    canvas.add_light(linear_color("#ffc890"), band**3 * dust * 0.45)
    stars(canvas, 5200, density=0.25 + band)
    if mood == "warm":
        canvas.glow(linear_color("#ff9a50"), 0.2, 0.95, 0.22, 0.35)
    ground = 0.9 + 0.03 * rough_line(canvas.rng, canvas.width, 1.5, lowest=2)
    silhouette(
        canvas, treetops(canvas, ground, tallest=0.14 if mood == "warm" else 0.05), linear_color(palette.near)
    )


def aurora(canvas: Canvas, mood: str) -> None:
    """Curtains of light and their image in a lake."""
    low, high = ("#46f0a0", "#7a4fd0") if mood == "green" else ("#f06fb0", "#5a50e0")
    shore = 0.7
    canvas.fill("#030814", "#071a2c", "#0f3040", bottom=shore)
    stars(canvas, 900, density=smoothstep(canvas.y, shore, 0))
    for number in range(3):
        hem = (
            0.46
            - 0.07 * number
            + 0.05 * rough_line(canvas.rng, canvas.width, 2.2)
            + 0.08 * np.sin(canvas.x * 4 + number * 2)
        )
        rays = np.exp(0.5 * rough_line(canvas.rng, canvas.width, 0.9, lowest=4))
        above = (hem - canvas.y) / (0.16 + 0.07 * number)
        body = np.exp(-np.maximum(above, 0) * 1.7) * smoothstep(above, -0.1, 0.06) * rays
        canvas.add_light(
            mix(linear_color(low), linear_color(high), np.clip(above, 0, 1)), body * (0.62 - 0.14 * number)
        )
    mountains(canvas, SKY_PALETTES["night"], top=shore - 0.1, bottom=shore - 0.03, count=3)
    mirror(canvas, shore, dim=0.6)


def moon(canvas: Canvas, mood: str) -> None:
    """A full moon with its seas, rising behind hills."""
    palette = SKY_PALETTES[mood]
    canvas.fill(*palette.sky, bottom=0.85)
    if mood == "night":
        stars(canvas, 700, density=smoothstep(canvas.y, 0.9, 0))
    x, y, radius = canvas.rng.uniform(0.4, 0.6), 0.36 / max(canvas.aspect_ratio, 0.8), 0.15
    warm = linear_color("#ffe3b0" if mood == "dusk" else "#f2f1e6")
    canvas.glow(warm, x, y, radius * 1.7, 0.22)
    seas = smoothstep(canvas.noise(1.9, lowest=6), -1.2, 1.6)
    limb = np.clip(1.15 - 0.3 * np.square(canvas.distance(x - 0.03, y - 0.03) / radius), 0.2, 1)
    canvas.disc(warm * (0.95 - 0.45 * seas) * limb, x, y, radius, blur=0.012)
    veil = smoothstep(canvas.noise(1.7, stretch=4.5), 0.4, 2.4) * 0.35
    canvas.paint(linear_color(palette.haze), veil)
    mountains(canvas, palette, top=0.68, bottom=0.95, count=4)


def clouds(canvas: Canvas, mood: str) -> None:
    """A sea of cloud seen from above, lit from the side."""
    palette = SKY_PALETTES[mood]
    canvas.fill(*palette.sky, bottom=0.5)
    canvas.glow(linear_color(palette.sun), 0.72, 0.4, 0.12, 0.9 * palette.strength)
    bright, dark = (
        mix(linear_color(palette.sun), linear_color(palette.sky[-1]), 0.35),
        mix(linear_color(palette.sky[0]), linear_color(palette.haze), 0.35),
    )
    puff = canvas.noise(1.75, stretch=1.8, lowest=2)
    for number in range(6):
        share = number / 5
        billow = np.roll(puff, (97 * number, 211 * number), axis=(0, 1))
        heaps = np.abs(rough_line(canvas.rng, canvas.width, 1.7, lowest=4 - 3 * share)) * (
            0.01 + 0.045 * share
        )
        below = canvas.y - (0.42 + 0.5 * share**1.5) + heaps + 0.012 * billow * (0.4 + share)
        lit = smoothstep(below - 0.03 * billow, 0.05 + 0.16 * share, -0.01)
        mask = smoothstep(below, -0.003, 0.012 + 0.03 * share)
        canvas.paint(mix(mix(dark, bright, lit), linear_color(palette.haze), 0.55 * (1 - share)), mask)


def stars(canvas: Canvas, count: int, *, density: Plane) -> None:
    """Many faint stars and a few bright ones, most where the density is high."""
    rng = canvas.rng
    rows, columns = rng.integers(1, canvas.height - 1, count), rng.integers(1, canvas.width - 1, count)
    allowed = np.broadcast_to(density, (canvas.height, canvas.width))[rows, columns]
    chosen = rng.random(count) < allowed
    rows, columns = rows[chosen], columns[chosen]
    power = (0.12 + 0.07 * rng.pareto(1.5, rows.size)).clip(0, 1.6).astype(np.float32)
    tint = np.stack([1 + 0.25 * rng.standard_normal(rows.size), np.ones(rows.size), np.full(rows.size, 1.1)])
    light = power * tint.astype(np.float32).clip(0.4, 1.6)
    canvas.light[:, rows, columns] += light
    for down, across in ((0, 1), (1, 0), (0, -1), (-1, 0)):
        canvas.light[:, rows + down, columns + across] += light * 0.4
