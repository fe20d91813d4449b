"""People in real browsers: found, followed, reported, judged, blocked, and guests who are none of it yet."""

import pytest

from tests.e2e.node import CHROMIUM, make_moderator, run_script
from tests.living_stack import LivingStack


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.skipif(CHROMIUM is None, reason="Debian's chromium is not installed")
async def test_people_find_follow_report_and_block_each_other(living_stack: LivingStack) -> None:
    moderator = await make_moderator(living_stack, "mo.lang")

    await run_script("people.mjs", living_stack, moderator)


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.skipif(CHROMIUM is None, reason="Debian's chromium is not installed")
async def test_guests_read_and_are_invited_or_are_asked_in_first(
    living_stack: LivingStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    await run_script("guests.mjs", living_stack, "open")

    await living_stack.stop()
    monkeypatch.setenv("TINTYPE_GUESTS_MAY_READ", "false")
    await living_stack.start()
    await run_script("guests.mjs", living_stack, "closed")
