"""Encrypted conversations in real browsers: two people, and a new device that restores the history."""

from tests.e2e.browser_flows import IN_BROWSER, run_flow, screenshot_folder
from tests.living_stack import LivingStack

pytestmark = IN_BROWSER


async def test_two_browsers_write_encrypted_and_a_third_restores_the_history(
    living_stack: LivingStack,
) -> None:
    await run_flow("encryptedMessages.mjs", living_stack.address, screenshot_folder(living_stack))
