"""Every surface that is used less than the feed, used as a person would: settings, making, keeping, the first day."""

import pytest

from tests.e2e.node import IN_BROWSER, play, run_script, shots_of
from tests.living_stack import LivingStack
from tests.media.videos.clips import make_clip
from tests.support import photo

pytestmark = IN_BROWSER

PICTURE = (1200, 900)


@pytest.mark.timeout(600)
async def test_everything_in_the_settings_does_what_it_says(living_stack: LivingStack) -> None:
    named = living_stack.address.replace("127.0.0.1", "localhost")  # passkeys belong to names

    await run_script("account.mjs", living_stack, str(living_stack.home / "mail"), shots_of(living_stack))
    await play("security.mjs", named, shots_of(living_stack))
    await run_script("taking.mjs", living_stack, shots_of(living_stack))


@pytest.mark.timeout(600)
async def test_what_is_made_is_shown_and_what_is_kept_is_found(living_stack: LivingStack) -> None:
    folder = living_stack.home.parent
    picture, clip = folder / "pier.jpg", make_clip(folder / "waves.mp4", size=(640, 480), seconds=2)
    picture.write_bytes(photo(*PICTURE))

    await play("composing.mjs", living_stack.address, str(picture), str(clip), shots_of(living_stack))
    await play("telling.mjs", living_stack.address, str(picture), shots_of(living_stack))
    await play("keeping.mjs", living_stack.address, str(picture), shots_of(living_stack))


@pytest.mark.timeout(400)
async def test_the_first_person_lets_others_move_in(empty_stack: LivingStack) -> None:
    await play("filling.mjs", empty_stack.address, shots_of(empty_stack))
