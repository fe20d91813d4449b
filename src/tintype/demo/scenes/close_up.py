"""At home: fruit on a table, a cup from above, the sun on a wall."""

import math

import numpy as np

from tintype.demo.canvas import Canvas, Plane, linear_color, mix, smoothstep
from tintype.demo.noise import fractal, resize_texture

SKINS = {
    "oranges": ("#e8842a", "#f0a03c", "#d9701f"),
    "plums": ("#5b3560", "#7a3f5a", "#463058"),
    "apples": ("#8fae3a", "#b5bf4a", "#6f9a35"),
}


def fruit(canvas: Canvas, mood: str) -> None:
    """A few round fruits in the light of one window."""
    wall = {
        "oranges": ("#3f4a4c", "#7d8684"),
        "plums": ("#8f8878", "#d3c8b2"),
        "apples": ("#5a4a42", "#a68c78"),
    }[mood]
    table = 0.64
    canvas.light[:] = mix(
        linear_color(wall[1]), linear_color(wall[0]), np.clip(canvas.x * 0.9 + canvas.y * 0.3, 0, 1)
    ) * (1 + 0.03 * canvas.noise(1.5))
    wood = resize_texture(fractal(canvas.rng, (512, 512), 1.2, stretch=16), canvas.width, canvas.height)
    board = (
        linear_color("#8a6444")
        * (0.9 + 0.13 * wood)
        * (1.25 - 0.8 * canvas.x)
        * (0.75 + 0.4 * smoothstep(canvas.y, table, 1))
    )
    canvas.paint(board, smoothstep(canvas.y, table - 0.002, table + 0.002))
    spots = ((0.3, 0.085), (0.72, 0.09), (0.52, 0.105), (0.4, 0.1), (0.63, 0.095))
    for number, (x, size) in enumerate(spots[: 3 + len(mood) % 3]):
        foot = table + 0.05 + 0.05 * number
        _ball(
            canvas,
            x + canvas.rng.uniform(-0.03, 0.03),
            foot,
            size * 1.15,
            linear_color(SKINS[mood][number % 3]),
        )


def coffee(canvas: Canvas, mood: str) -> None:
    """A cup from straight above, on wood or on linen."""
    grain = resize_texture(fractal(canvas.rng, (512, 512), 1.15, stretch=18), canvas.width, canvas.height)
    if mood == "wood":
        canvas.light[:] = linear_color("#6b4a33") * (1 + 0.22 * grain)
        canvas.light *= 1 - 0.6 * smoothstep(np.abs(((canvas.y * 3.2 + 0.3) % 1) - 0.5), 0.49, 0.5)
    else:
        weave = np.sin(canvas.x * 1500) * 0.04 + np.sin(canvas.y * canvas.aspect_ratio * 1500) * 0.04
        canvas.light[:] = linear_color("#cfd3cf") * (1 + weave + 0.05 * canvas.noise(1.6))
    x, y = canvas.rng.uniform(0.42, 0.58), canvas.rng.uniform(0.44, 0.56)
    glaze = linear_color("#efe9df") if mood == "wood" else linear_color("#3d5a66")
    canvas.light *= 1 - 0.55 * smoothstep(canvas.distance(x + 0.05, y + 0.045), 0.42, 0.28)
    lightside = 1 + 0.9 * ((x - canvas.x) + (y - canvas.y) * canvas.aspect_ratio)
    for radius, shade in ((0.335, 0.92), (0.31, 0.84), (0.19, 0.76)):
        canvas.disc(glaze * shade * lightside, x, y, radius, blur=0.006)
    canvas.light *= 1 - 0.45 * smoothstep(canvas.distance(x + 0.035, y + 0.035), 0.26, 0.16) * smoothstep(
        canvas.distance(x, y), 0.19, 0.2
    )
    handle = smoothstep(
        np.abs(canvas.distance(x + 0.2, y - 0.11 / canvas.aspect_ratio) - 0.055), 0.017, 0.013
    )
    canvas.paint(glaze * 1.02, handle)
    canvas.disc(glaze * 1.08 * lightside, x, y, 0.205, blur=0.006)
    canvas.disc(glaze * 0.5 / lightside, x, y, 0.19, blur=0.006)
    canvas.disc(_crema(canvas, x, y), x + 0.004, y + 0.004, 0.178, blur=0.01)
    canvas.light *= 1.15 - 0.5 * smoothstep(canvas.x + canvas.y * 0.6, 0.4, 1.5)


def window_light(canvas: Canvas, mood: str) -> None:
    """The sun through a window, with a plant's shadow, on a plain wall."""
    wall, sun = ("#8f7f78", "#ffdcae") if mood == "evening" else ("#7c8a8c", "#fff4da")
    plaster = canvas.noise(0.9)
    canvas.light[:] = linear_color(wall) * (0.62 + 0.03 * plaster)
    across = canvas.x - 0.18 + 0.16 * canvas.y
    down = (canvas.y - 0.16) * canvas.aspect_ratio - 0.22 * canvas.x + 0.12
    panes = np.ones((canvas.height, canvas.width), np.float32)
    for value, cell, count in ((across, 0.215, 3), (down, 0.25, 3)):
        inside = smoothstep(value, 0, 0.012) * smoothstep(value, cell * count + 0.012, cell * count)
        bars = smoothstep(np.abs((value / cell + 0.5) % 1 - 0.5) * cell, 0.008, 0.018)
        panes = panes * inside * bars
    canvas.add_light(linear_color(sun), panes * (1 - 0.8 * _fronds(canvas)) * (0.75 + 0.03 * plaster))
    canvas.light *= 1.1 - 0.4 * smoothstep(canvas.x, 0.5, 1.2)


def _crema(canvas: Canvas, x: float, y: float) -> Plane:
    across, down = (
        (canvas.x - np.float32(x)) / 0.178,
        (canvas.y - np.float32(y)) * canvas.aspect_ratio / 0.178,
    )
    near = np.hypot(across, down)
    wave = 0.025 * canvas.noise(1.9)
    heart = np.hypot(across, 0.16 - down * 1.1 - 0.75 * np.sqrt(np.abs(across) + 0.01)) + wave
    milk = smoothstep(heart, 0.68, 0.62) * smoothstep(np.abs((heart * 5.2 + 0.42) % 1 - 0.5), 0.03, 0.1)
    brown = mix(linear_color("#9a5a28"), linear_color("#5a2d14"), smoothstep(near + wave, 0.5, 1.0))
    return mix(brown, linear_color("#f6e6cc"), milk)


def _ball(canvas: Canvas, x: float, foot: float, size: float, skin: Plane) -> None:
    y = foot - size / canvas.aspect_ratio
    canvas = canvas.near_point(x, y, size * 3)
    across, down = (canvas.x - np.float32(x)) / size, (canvas.y - np.float32(y)) * canvas.aspect_ratio / size
    far = np.exp(-np.square((across - 0.9) / 1.1) - np.square((down - 0.86) / 0.2))
    touch = np.exp(-np.square((across - 0.15) / 0.7) - np.square((down - 0.93) / 0.14))
    canvas.light *= 1 - np.maximum(0.6 * far, 0.85 * touch) * smoothstep(canvas.y, 0.62, 0.66)
    near = np.square(across) + np.square(down)
    facing = np.sqrt(np.clip(1 - near, 0, 1))
    dimple = np.exp(-(np.square(across - 0.12) * 1.2 + np.square(down + 0.72) * 5) / 0.05)
    lit = np.clip(-0.68 * across - 0.45 * down + 0.55 * facing - 0.3 * dimple, 0, 1)
    pores = 1 + 0.05 * canvas.noise(0.5, lowest=30)
    body = skin * pores * (0.06 + 1.15 * lit) + linear_color("#9a6a40") * 0.12 * np.clip(down, 0, 1)
    shine = np.exp(-(np.square(across + 0.4) + np.square(down + 0.38)) / 0.03) * 0.35
    canvas.paint(body + shine, smoothstep(near, 1.02, 0.97))
    stem = smoothstep(np.abs(across - 0.12 - 0.25 * (down + 0.75)), 0.045, 0.02) * smoothstep(
        np.abs(down + 0.86), 0.16, 0.12
    )
    canvas.paint(linear_color("#3a2a18"), stem)


def _fronds(canvas: Canvas) -> Plane:
    x, y = (
        np.linspace(0, 1, 270, dtype=np.float32)[None, :],
        np.linspace(0, canvas.aspect_ratio, 270, dtype=np.float32)[:, None],
    )
    mask = np.zeros((270, 270), np.float32)  # a shadow is soft: a small one, drawn out, will do
    for number in range(15):
        angle = -2.75 + 0.17 * number + canvas.rng.uniform(-0.1, 0.1)
        length = canvas.rng.uniform(0.34, 0.6)
        right, down = x - 0.55, y - 0.16 * canvas.aspect_ratio - 0.7
        along = right * math.cos(angle) + down * math.sin(angle)
        off = down * math.cos(angle) - right * math.sin(angle) - 0.4 * np.square(along) * math.cos(angle)
        part = np.clip(along / length, 0, 1)
        width = 0.05 * np.sqrt(part) * (1 - part) + 0.002
        mask = np.maximum(mask, smoothstep(np.abs(off) - width, 0.006, -0.003) * smoothstep(along, 0, 0.01))
    return resize_texture(mask, canvas.width, canvas.height)
