"""What the browser shows is what the server makes: the same edits drawn by both, compared pixel by pixel."""

from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
import pyvips
from numpy.typing import NDArray
from PIL import Image

from tests.e2e.browser_flows import IN_BROWSER, run_flow
from tintype.media.looks import Crop, Edit, Look, apply, find_strip, list_looks

pytestmark = IN_BROWSER

MAX_DIFFERENCE = 2
"""Steps of 255."""

SLIDERS = ("brightness", "contrast", "saturation", "warmth")
EDITS = [
    *(Edit(look=look.id) for look in list_looks()),
    *(Edit(look=look.id, strength=37, contrast=25) for look in list_looks()[::5]),
    *(msgspec.convert({slider: amount}, Edit) for slider in SLIDERS for amount in (-100, 100)),
    Edit(vignette=100),
    Edit(grain=100),
    Edit(turns=1),
    Edit(turns=2, look="ferrous"),
    Edit(turns=3, crop=Crop(0.1, 0.2, 0.35, 0.77)),
    Edit(mirrored=True),
    Edit(turns=3, mirrored=True, straighten=-4, crop=Crop(0.2, 0.1, 0.7, 0.6), look="ferrous"),
    Edit(straighten=7.3),
    Edit(straighten=-25, crop=Crop(0.25, 0, 0.5, 1), look="sea-glass", warmth=-40),
    Edit(turns=1, straighten=12, look="old-postcard", vignette=40, grain=60, brightness=30, saturation=-20),
]


class Cases(msgspec.Struct):
    looks: tuple[Look, ...]
    edits: list[Edit]


def picture(width: int = 301, height: int = 217) -> NDArray[np.uint8]:
    """Every hue and tone, a hard edge, and a field of chance."""
    down, across = np.mgrid[0:height, 0:width].astype(np.float64)
    waves = [np.sin(across / 37 + shift) * np.cos(down / (23 + shift)) for shift in (0, 2, 4)]
    rows = (127.5 + 127.5 * np.stack(waves, -1)).astype(np.uint8)
    rows[20:60, 20:90] = 255 * (across[20:60, 20:90, None] > 50)
    rows[100:160, 200:280] = np.random.default_rng(5).integers(0, 256, (60, 80, 3))
    return rows


async def draw_in_browser(folder: Path) -> list[NDArray[np.uint8]]:
    await run_flow("looks.mjs", str(folder))
    sizes = msgspec.json.decode((folder / "sizes.json").read_bytes(), type=list[tuple[int, int]])
    return [read_pixels(folder / f"{number}.rgba", size) for number, size in enumerate(sizes)]


def read_pixels(file: Path, size: tuple[int, int]) -> NDArray[np.uint8]:
    """WebGL counts rows from below."""
    width, height = size
    return np.frombuffer(file.read_bytes(), np.uint8).reshape(height, width, 4)[::-1, :, :3]


def draw_on_server(rows: NDArray[np.uint8], edit: Edit) -> NDArray[Any]:
    return np.asarray(apply(pyvips.Image.new_from_array(rows, interpretation="srgb"), edit).numpy())


@pytest.mark.timeout(300)
async def test_browser_and_server_agree_within_two_steps(tmp_path: Path) -> None:
    rows = picture()
    Image.fromarray(rows).save(tmp_path / "picture.png")
    for look in list_looks():
        name = look.strip.rpartition("/")[2]
        (tmp_path / name).write_bytes(find_strip(name) or b"")
    (tmp_path / "cases.json").write_bytes(msgspec.json.encode(Cases(list_looks(), EDITS)))

    drawn = await draw_in_browser(tmp_path)

    apart = {
        number: int(np.abs(seen.astype(int) - draw_on_server(rows, edit).astype(int)).max())
        for number, (seen, edit) in enumerate(zip(drawn, EDITS, strict=True))
    }
    assert {EDITS[number]: worst for number, worst in apart.items() if worst > MAX_DIFFERENCE} == {}
