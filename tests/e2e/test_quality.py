"""Quality of the whole app: accessibility, layout stability and performance."""

import sys

import pytest

from tests.e2e.browser_flows import IN_BROWSER, make_moderator, run_flow_with_photo
from tests.living_stack import LivingStack

pytestmark = IN_BROWSER

MIN_PERFORMANCE = "95"
"""The Lighthouse score, computed from CPU time (`web/e2e/lighthouse.mjs`), so that other processes count little."""


@pytest.mark.timeout(900)
async def test_every_page_is_accessible_and_does_not_shift(living_stack: LivingStack) -> None:
    moderator = await make_moderator(living_stack)

    await run_flow_with_photo("axe.mjs", living_stack, moderator)


@pytest.mark.alone
@pytest.mark.timeout(600)
async def test_home_passes_lighthouse_on_a_phone(living_stack: LivingStack) -> None:
    sys.stdout.write(await run_flow_with_photo("lighthouse.mjs", living_stack, MIN_PERFORMANCE))


async def test_the_feed_does_not_shift_restores_its_position_and_holds_new_posts_back(
    living_stack: LivingStack,
) -> None:
    sys.stdout.write(await run_flow_with_photo("layoutStability.mjs", living_stack, size=(1080, 1350)))
