"""The whole app, surface by surface: for everybody, still, and fast."""

import os
import sys

import pytest

from tests.e2e.node import CHROMIUM, make_moderator, run_script
from tests.living_stack import LivingStack

LEAST_PERFORMANCE = os.environ.get("TINTYPE_LIGHTHOUSE_LEAST", "95")
"""Of processor time (`web/e2e/lighthouse.mjs`), so that neighbours on the machine do not count."""


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.skipif(CHROMIUM is None, reason="Debian's chromium is not installed")
async def test_every_surface_is_for_everybody_and_stands_still(living_stack: LivingStack) -> None:
    moderator = await make_moderator(living_stack)

    await run_script("axe.mjs", living_stack, moderator)


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.skipif(CHROMIUM is None, reason="Debian's chromium is not installed")
async def test_home_passes_lighthouse_on_a_phone(living_stack: LivingStack) -> None:
    sys.stdout.write(await run_script("lighthouse.mjs", living_stack, LEAST_PERFORMANCE))


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.skipif(CHROMIUM is None, reason="Debian's chromium is not installed")
async def test_the_feed_stands_still_keeps_its_place_and_holds_news_back(living_stack: LivingStack) -> None:
    sys.stdout.write(await run_script("still.mjs", living_stack, size=(1080, 1350)))
