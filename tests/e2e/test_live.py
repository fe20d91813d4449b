"""The live connection in a real browser: MQTT over WebSocket, against a whole Tintype whose broker is killed."""

import pytest

from tests.e2e.browser_flows import IN_BROWSER, run_flow_with_photo, screenshot_folder
from tests.living_stack import open_living_stack

pytestmark = [*IN_BROWSER, pytest.mark.timeout(900)]  # it starts a stack of its own, and kills a part of it


async def test_badges_and_new_posts_are_pushed_once_while_the_broker_is_killed() -> None:
    async with open_living_stack(realtime="true") as stack:
        await run_flow_with_photo("live.mjs", stack, str(stack.home), screenshot_folder(stack))
        assert stack.crashes() == []
