"""Looking up: the milky way, northern lights, the moon, clouds."""

import numpy as np

from tintype.demo.hours import HOURS
from tintype.demo.light import Plane, Sheet, edge, mix, tone
from tintype.demo.noise import line
from tintype.demo.scenes.open_air import mirror, mountains, silhouette, treetops


def milky_way(sheet: Sheet, mood: str) -> None:
    """The band of our galaxy with its dust, above a black ridge."""
    hour = HOURS["night"]
    sheet.fill("#02040b", "#060f22", "#0f2340", "#3b4a58" if mood == "warm" else "#1d4058")
    lean = sheet.rng.uniform(0.35, 0.6)
    across = (sheet.x - 0.5) * 0.9 + (sheet.y - 0.45) * sheet.tall * lean + 0.03 * sheet.noise(1.8)
    band = np.exp(-np.square(across / 0.13))
    dust = edge(sheet.noise(1.6) - 2.2 * np.exp(-np.square(across / 0.04)) + 0.9, -1.4, 1.2)
    sheet.shine(tone("#8fa3d8"), band * (0.10 + 0.28 * dust))
    sheet.shine(tone("#ffc890"), band**3 * dust * 0.45)
    stars(sheet, 5200, density=0.25 + band)
    if mood == "warm":
        sheet.glow(tone("#ff9a50"), 0.2, 0.95, 0.22, 0.35)
    ground = 0.9 + 0.03 * line(sheet.rng, sheet.width, 1.5, lowest=2)
    silhouette(sheet, treetops(sheet, ground, tallest=0.14 if mood == "warm" else 0.05), tone(hour.near))


def aurora(sheet: Sheet, mood: str) -> None:
    """Curtains of light and their image in a lake."""
    low, high = ("#46f0a0", "#7a4fd0") if mood == "green" else ("#f06fb0", "#5a50e0")
    shore = 0.7
    sheet.fill("#030814", "#071a2c", "#0f3040", bottom=shore)
    stars(sheet, 900, density=edge(sheet.y, shore, 0))
    for number in range(3):
        hem = (
            0.46
            - 0.07 * number
            + 0.05 * line(sheet.rng, sheet.width, 2.2)
            + 0.08 * np.sin(sheet.x * 4 + number * 2)
        )
        rays = np.exp(0.5 * line(sheet.rng, sheet.width, 0.9, lowest=4))
        above = (hem - sheet.y) / (0.16 + 0.07 * number)
        body = np.exp(-np.maximum(above, 0) * 1.7) * edge(above, -0.1, 0.06) * rays
        sheet.shine(mix(tone(low), tone(high), np.clip(above, 0, 1)), body * (0.62 - 0.14 * number))
    mountains(sheet, HOURS["night"], top=shore - 0.1, bottom=shore - 0.03, count=3)
    mirror(sheet, shore, dim=0.6)


def moon(sheet: Sheet, mood: str) -> None:
    """A full moon with its seas, rising behind hills."""
    hour = HOURS[mood]
    sheet.fill(*hour.sky, bottom=0.85)
    if mood == "night":
        stars(sheet, 700, density=edge(sheet.y, 0.9, 0))
    x, y, radius = sheet.rng.uniform(0.4, 0.6), 0.36 / max(sheet.tall, 0.8), 0.15
    warm = tone("#ffe3b0" if mood == "dusk" else "#f2f1e6")
    sheet.glow(warm, x, y, radius * 1.7, 0.22)
    seas = edge(sheet.noise(1.9, lowest=6), -1.2, 1.6)
    limb = np.clip(1.15 - 0.3 * np.square(sheet.distance(x - 0.03, y - 0.03) / radius), 0.2, 1)
    sheet.disc(warm * (0.95 - 0.45 * seas) * limb, x, y, radius, blur=0.012)
    veil = edge(sheet.noise(1.7, stretch=4.5), 0.4, 2.4) * 0.35
    sheet.paint(tone(hour.haze), veil)
    mountains(sheet, hour, top=0.68, bottom=0.95, count=4)


def clouds(sheet: Sheet, mood: str) -> None:
    """A sea of cloud seen from above, lit from the side."""
    hour = HOURS[mood]
    sheet.fill(*hour.sky, bottom=0.5)
    sheet.glow(tone(hour.sun), 0.72, 0.4, 0.12, 0.9 * hour.strength)
    bright, dark = (
        mix(tone(hour.sun), tone(hour.sky[-1]), 0.35),
        mix(tone(hour.sky[0]), tone(hour.haze), 0.35),
    )
    puff = sheet.noise(1.75, stretch=1.8, lowest=2)
    for number in range(6):
        share = number / 5
        billow = np.roll(puff, (97 * number, 211 * number), axis=(0, 1))
        heaps = np.abs(line(sheet.rng, sheet.width, 1.7, lowest=4 - 3 * share)) * (0.01 + 0.045 * share)
        below = sheet.y - (0.42 + 0.5 * share**1.5) + heaps + 0.012 * billow * (0.4 + share)
        lit = edge(below - 0.03 * billow, 0.05 + 0.16 * share, -0.01)
        mask = edge(below, -0.003, 0.012 + 0.03 * share)
        sheet.paint(mix(mix(dark, bright, lit), tone(hour.haze), 0.55 * (1 - share)), mask)


def stars(sheet: Sheet, count: int, *, density: Plane) -> None:
    """Many faint stars and a few bright ones, most where the density is high."""
    rng = sheet.rng
    rows, columns = rng.integers(1, sheet.height - 1, count), rng.integers(1, sheet.width - 1, count)
    allowed = np.broadcast_to(density, (sheet.height, sheet.width))[rows, columns]
    chosen = rng.random(count) < allowed
    rows, columns = rows[chosen], columns[chosen]
    power = (0.12 + 0.07 * rng.pareto(1.5, rows.size)).clip(0, 1.6).astype(np.float32)
    tint = np.stack([1 + 0.25 * rng.standard_normal(rows.size), np.ones(rows.size), np.full(rows.size, 1.1)])
    light = power * tint.astype(np.float32).clip(0.4, 1.6)
    sheet.light[:, rows, columns] += light
    for down, across in ((0, 1), (1, 0), (0, -1), (-1, 0)):
        sheet.light[:, rows + down, columns + across] += light * 0.4
