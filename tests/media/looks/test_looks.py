"""The looks themselves: recipes, strips, the list."""

import re
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

from tintype.media.looks import find_strip, list_looks
from tintype.media.looks.curves import apply_curve
from tintype.media.looks.look_files import STRIPS
from tintype.media.looks.lut_strips import read_lut, render_strip

LOOKS = [look.id for look in list_looks()]
LEAST_DIFFERENCE = 3.0
"""Mean difference of two tables, of 255; measured, the two most alike are above 4."""


@pytest.mark.parametrize("look", LOOKS)
def test_a_strip_is_what_its_recipe_makes(look: str) -> None:
    with Image.open(STRIPS / f"{look}.png") as strip:
        assert strip.size == (1089, 33)
        assert strip.mode == "RGB"
        assert strip.info == {}
        assert np.array_equal(np.asarray(strip), render_strip(look)), (
            "run python -m develop.render_look_strips"
        )


def test_there_are_at_least_twenty_looks_and_no_strip_without_one() -> None:
    assert len(LOOKS) >= 20
    assert {file.stem for file in STRIPS.iterdir()} == set(LOOKS)
    assert len({look.name for look in list_looks()}) == len(LOOKS)


def test_no_two_looks_are_alike_and_none_does_nothing() -> None:
    steps = np.linspace(0, 1, 33, dtype=np.float32)
    blue, green, red = np.meshgrid(steps, steps, steps, indexing="ij")
    tables = [np.stack([red, green, blue], -1).reshape(-1, 3), *(read_lut(look) for look in LOOKS)]

    pairs = [255 * np.abs(one - two).mean() for at, one in enumerate(tables) for two in tables[at + 1 :]]

    assert min(pairs) > LEAST_DIFFERENCE


@pytest.mark.parametrize("look", LOOKS)
def test_a_look_keeps_grey_ramps_rising(look: str) -> None:
    ramp = read_lut(look).reshape(33, 33, 33, 3)[range(33), range(33), range(33)] @ [0.2126, 0.7152, 0.0722]

    assert (np.diff(ramp) > 0).all()


def test_a_strip_is_found_by_its_public_name_alone() -> None:
    look = list_looks()[0]
    name = look.strip.rpartition("/")[2]

    assert find_strip(name) == (STRIPS / f"{look.id}.png").read_bytes()
    for other in ("", "-", f"{look.id}.png", f"{look.id}-000000000000.png", f"../{name}", "\0", "\ud800-x"):
        assert find_strip(other) is None


def test_strip_urls_change_with_the_content() -> None:
    assert all(re.fullmatch(r"/api/v1/looks/[a-z-]+-[0-9a-f]{12}\.png", look.strip) for look in list_looks())


def test_a_curve_goes_through_its_points_and_never_overshoots() -> None:
    curve = ((0.0, 0.1), (0.4, 0.1), (0.5, 0.9), (1.0, 1.0))
    values = apply_curve(np.linspace(0, 1, 1001), curve)

    assert np.allclose(apply_curve(np.array([0, 0.4, 0.5, 1]), curve), [0.1, 0.1, 0.9, 1.0])
    assert (np.diff(values) >= -1e-12).all()


@pytest.mark.slow
def test_listing_looks_and_parsing_edits_loads_no_imaging_library() -> None:
    script = (
        "import sys; before = set(sys.modules); import tintype.media; had = set(sys.modules) - before;"
        "from tintype.media.looks import Edit, list_looks; assert list_looks() and Edit(look='ferrous');"
        "print(sorted({'pyvips', 'numpy', 'PIL'} & (set(sys.modules) - had)))"
    )

    said = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)

    assert said.stdout.strip() == "[]"
