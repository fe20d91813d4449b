"""The composers in a real browser: of posts, with crops and publishing in the background, and of stories."""

import pytest

from tests.e2e.browser_flows import IN_BROWSER, run_flow, run_flow_with_photo, screenshot_folder
from tests.living_stack import LivingStack
from tests.posts.test_camera import camera_photo

pytestmark = IN_BROWSER


async def test_pictures_are_ordered_cropped_and_published_once(living_stack: LivingStack) -> None:
    await run_flow("darkroom.mjs", living_stack.address, screenshot_folder(living_stack))


async def test_camera_details_and_places_are_shown_as_chosen(living_stack: LivingStack) -> None:
    picture = living_stack.home.parent / "camera.jpg"
    picture.write_bytes(camera_photo())
    await run_flow("cameraAndPlaces.mjs", living_stack.address, str(picture), screenshot_folder(living_stack))


async def test_a_post_waits_for_its_time_or_its_author(living_stack: LivingStack) -> None:
    await run_flow("scheduling.mjs", living_stack.address, screenshot_folder(living_stack))


@pytest.mark.timeout(300)
async def test_publishing_survives_an_outage_a_reload_and_lost_answers_exactly_once(
    living_stack: LivingStack,
) -> None:
    await run_flow("backgroundPublish.mjs", living_stack.address, screenshot_folder(living_stack))


@pytest.mark.timeout(300)
async def test_stories_are_composed_by_touch_and_keys_and_shown_alike_elsewhere(
    living_stack: LivingStack,
) -> None:
    await run_flow_with_photo("storyEditor.mjs", living_stack, screenshot_folder(living_stack))
