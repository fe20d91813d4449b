"""Pictures in a real browser: shown whole on every surface, and the full-screen viewer."""

from tests.e2e.browser_flows import IN_BROWSER, run_flow
from tests.living_stack import LivingStack

pytestmark = IN_BROWSER


async def test_nothing_of_a_picture_is_cut(living_stack: LivingStack) -> None:
    await run_flow("wholePictures.mjs", living_stack.address)


async def test_the_viewer_works_by_touch_keyboard_and_wheel(living_stack: LivingStack) -> None:
    await run_flow("photoViewer.mjs", living_stack.address)
