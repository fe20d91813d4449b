"""Publishing and logging in, in a real browser."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from tests.e2e.browser_flows import IN_BROWSER, run_flow, run_flow_with_photo, screenshot_folder
from tests.living_stack import LivingStack
from tintype.demo import render_photo

pytestmark = IN_BROWSER

MAX_DIFFERENCE = 4.0
"""Mean difference (of 255) between the editor's preview and the published JPEG; measured 1.3."""


async def test_two_users_post_follow_and_like_in_two_browsers(living_stack: LivingStack) -> None:
    await run_flow_with_photo("smoke.mjs", living_stack, screenshot_folder(living_stack))


async def test_a_carousel_is_published_as_the_editor_previewed_it(living_stack: LivingStack) -> None:
    folder = living_stack.home.parent
    pictures = [folder / "hills.jpg", folder / "lake.jpg"]
    pictures[0].write_bytes(render_photo("ridges", "dawn", "portrait", seed="e2e"))
    pictures[1].write_bytes(render_photo("lake", "morning", "landscape", seed="e2e"))

    await run_flow("photoEditor.mjs", living_stack.address, *map(str, pictures), str(folder))

    preview, published = thumbnail(folder / "preview.png"), thumbnail(folder / "made.jpg")
    assert np.abs(preview - published).mean() < MAX_DIFFERENCE
    assert np.abs(preview - published[:, ::-1]).mean() > MAX_DIFFERENCE, (
        "a mirrored picture would have been noticed"
    )


async def test_every_way_to_log_in_works(living_stack: LivingStack) -> None:
    address = living_stack.address.replace("127.0.0.1", "localhost")  # passkeys need a host name

    await run_flow("login.mjs", address, str(living_stack.home / "mail"))


def thumbnail(file: Path) -> NDArray[np.float64]:
    """Scale a picture down so far that compression and screen size do not matter."""
    with Image.open(file) as opened:
        return np.asarray(opened.convert("RGB").resize((160, 160), Image.Resampling.BOX), np.float64)
