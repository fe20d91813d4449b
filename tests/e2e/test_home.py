"""The home page in a real browser: comments and stories between two users, and working offline."""

from tests.e2e.browser_flows import IN_BROWSER, run_flow_with_photo, screenshot_folder
from tests.living_stack import LivingStack

pytestmark = IN_BROWSER

PORTRAIT = (1080, 1350)


async def test_two_users_comment_on_a_post_and_reply_to_a_story(living_stack: LivingStack) -> None:
    await run_flow_with_photo(
        "commentsAndStories.mjs", living_stack, screenshot_folder(living_stack), size=PORTRAIT
    )


async def test_offline_mutations_take_effect_exactly_once(living_stack: LivingStack) -> None:
    await run_flow_with_photo("offline.mjs", living_stack, screenshot_folder(living_stack), size=PORTRAIT)


async def test_nothing_of_one_account_is_left_on_the_device_for_the_next(living_stack: LivingStack) -> None:
    await run_flow_with_photo("sharedDevice.mjs", living_stack, size=PORTRAIT)


async def test_a_phone_has_sheets_pulls_to_refresh_and_swipes_stories(living_stack: LivingStack) -> None:
    await run_flow_with_photo(
        "phoneGestures.mjs", living_stack, screenshot_folder(living_stack), size=PORTRAIT
    )


async def test_the_modal_has_neighbours_and_a_browser_several_accounts(living_stack: LivingStack) -> None:
    await run_flow_with_photo(
        "modalAndAccounts.mjs", living_stack, screenshot_folder(living_stack), size=PORTRAIT
    )
