"""Home in a real browser on the real stack: comments and stories between two people, and life without a connection."""

from tests.e2e.node import IN_BROWSER, run_script, shots_of
from tests.living_stack import LivingStack

pytestmark = IN_BROWSER

PORTRAIT = (1080, 1350)


async def test_two_people_talk_under_a_post_and_over_a_story(living_stack: LivingStack) -> None:
    await run_script("evening.mjs", living_stack, shots_of(living_stack), size=PORTRAIT)


async def test_what_was_wished_without_a_connection_arrives_exactly_once(living_stack: LivingStack) -> None:
    await run_script("offline.mjs", living_stack, shots_of(living_stack), size=PORTRAIT)
