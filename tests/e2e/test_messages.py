"""Direct messages in real browsers, over a live connection."""

from collections.abc import AsyncIterator

import pytest

from tests.e2e.browser_flows import IN_BROWSER, make_moderator, run_flow_with_photo, screenshot_folder
from tests.living_stack import LivingStack, open_living_stack

pytestmark = IN_BROWSER


@pytest.fixture
async def live_stack() -> AsyncIterator[LivingStack]:
    """A running Tintype with live connections."""
    async with open_living_stack(realtime="true") as stack:
        yield stack


@pytest.mark.timeout(900)
async def test_people_write_to_each_other_and_nothing_is_lost_or_doubled(live_stack: LivingStack) -> None:
    await run_flow_with_photo("messages.mjs", live_stack, screenshot_folder(live_stack))


@pytest.mark.timeout(600)
async def test_messages_are_accessible_on_phone_and_desktop(live_stack: LivingStack) -> None:
    moderator = await make_moderator(live_stack)

    await run_flow_with_photo("axe.mjs", live_stack, moderator, "messages")
