"""The whole app, surface by surface: for everybody, still, and fast."""

import os
import sys

import pytest

from tests.e2e.node import IN_BROWSER, make_moderator, run_script
from tests.living_stack import LivingStack

pytestmark = IN_BROWSER

LEAST_PERFORMANCE = os.environ.get("TINTYPE_LIGHTHOUSE_LEAST", "95")
"""Of processor time (`web/e2e/lighthouse.mjs`), so that neighbours on the machine do not count."""


@pytest.mark.timeout(900)
async def test_every_surface_is_for_everybody_and_stands_still(living_stack: LivingStack) -> None:
    moderator = await make_moderator(living_stack)

    await run_script("axe.mjs", living_stack, moderator)


@pytest.mark.timeout(600)
async def test_home_passes_lighthouse_on_a_phone(living_stack: LivingStack) -> None:
    sys.stdout.write(await run_script("lighthouse.mjs", living_stack, LEAST_PERFORMANCE))


async def test_the_feed_stands_still_keeps_its_place_and_holds_news_back(living_stack: LivingStack) -> None:
    sys.stdout.write(await run_script("still.mjs", living_stack, size=(1080, 1350)))
