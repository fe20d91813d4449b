"""A real browser on the real stack."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from tests.e2e.node import IN_BROWSER, play, run_script, shots_of
from tests.living_stack import LivingStack
from tintype.demo import take_picture

pytestmark = IN_BROWSER

MOST_APART = 4.0
"""Mean difference of 255 between what the screen showed and the JPEG that was made; measured 1.3."""


async def test_two_people_meet_in_two_browsers(living_stack: LivingStack) -> None:
    await run_script("skeleton.mjs", living_stack, shots_of(living_stack))


async def test_a_carousel_is_published_as_the_editor_showed_it(living_stack: LivingStack) -> None:
    folder = living_stack.home.parent
    pictures = [folder / "hills.jpg", folder / "lake.jpg"]
    pictures[0].write_bytes(take_picture("ridges", "dawn", "portrait", seed="e2e"))
    pictures[1].write_bytes(take_picture("lake", "morning", "landscape", seed="e2e"))

    await play("making.mjs", living_stack.address, *map(str, pictures), str(folder))

    shown, made = small(folder / "preview.png"), small(folder / "made.jpg")
    assert np.abs(shown - made).mean() < MOST_APART
    assert np.abs(shown - made[:, ::-1]).mean() > MOST_APART, "a mirrored picture would have been noticed"


async def test_every_way_in_leads_in(living_stack: LivingStack) -> None:
    address = living_stack.address.replace("127.0.0.1", "localhost")  # passkeys belong to names

    await play("entering.mjs", address, str(living_stack.home / "mail"))


def small(file: Path) -> NDArray[np.float64]:
    """Little enough of a picture that its compression and its size on a screen do not matter."""
    with Image.open(file) as opened:
        return np.asarray(opened.convert("RGB").resize((160, 160), Image.Resampling.BOX), np.float64)
