"""Settings, creating and organising content, and onboarding, in a real browser."""

import pytest

from tests.e2e.browser_flows import IN_BROWSER, run_flow, run_flow_with_photo, screenshot_folder
from tests.imports.archives import picture
from tests.imports.member_imports import instagram
from tests.living_stack import LivingStack
from tests.media.videos.sample_videos import make_clip
from tests.support import photo

pytestmark = IN_BROWSER

PICTURE = (1200, 900)


@pytest.mark.timeout(600)
async def test_all_settings_work(living_stack: LivingStack) -> None:
    named = living_stack.address.replace("127.0.0.1", "localhost")  # passkeys need a host name

    await run_flow_with_photo(
        "accountSettings.mjs", living_stack, str(living_stack.home / "mail"), screenshot_folder(living_stack)
    )
    await run_flow("securitySettings.mjs", named, screenshot_folder(living_stack))
    await run_flow_with_photo("exportAndDeactivate.mjs", living_stack, screenshot_folder(living_stack))


@pytest.mark.timeout(400)
async def test_members_import_their_posts(living_stack: LivingStack) -> None:
    folder = living_stack.home.parent
    stray = {"media/posts/stray.jpg": picture(51)}
    first, second = instagram(folder / "one.zip", 4, stray), instagram(folder / "two.zip", 9)

    await run_flow(
        "importPosts.mjs", living_stack.address, str(first), str(second), screenshot_folder(living_stack)
    )


@pytest.mark.timeout(600)
async def test_posts_highlights_and_collections_can_be_created_and_found(living_stack: LivingStack) -> None:
    folder = living_stack.home.parent
    pier, clip = folder / "pier.jpg", make_clip(folder / "waves.mp4", size=(640, 480), seconds=2)
    pier.write_bytes(photo(*PICTURE))

    await run_flow(
        "composePost.mjs", living_stack.address, str(pier), str(clip), screenshot_folder(living_stack)
    )
    await run_flow("highlights.mjs", living_stack.address, str(pier), screenshot_folder(living_stack))
    await run_flow(
        "collectionsAndArchive.mjs", living_stack.address, str(pier), screenshot_folder(living_stack)
    )


@pytest.mark.timeout(400)
async def test_the_first_user_can_create_demo_content(empty_stack: LivingStack) -> None:
    await run_flow("onboarding.mjs", empty_stack.address, screenshot_folder(empty_stack))
