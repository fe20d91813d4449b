"""People in real browsers: found, followed, let in or not, reported, judged, blocked, leaving, and guests."""

import pytest

from tests.e2e.node import IN_BROWSER, make_moderator, run_script, shots_of
from tests.living_stack import LivingStack

pytestmark = IN_BROWSER


async def test_people_find_follow_report_and_block_each_other(living_stack: LivingStack) -> None:
    moderator = await make_moderator(living_stack)

    await run_script("people.mjs", living_stack, moderator)


async def test_a_private_account_lets_in_whom_it_approves_and_nobody_else(living_stack: LivingStack) -> None:
    await run_script("asking.mjs", living_stack, shots_of(living_stack))


async def test_whoever_is_blocked_vanishes_and_so_does_whoever_blocks(living_stack: LivingStack) -> None:
    await run_script("parting.mjs", living_stack, shots_of(living_stack))


async def test_a_deleted_account_is_out_of_sight_until_its_owner_returns(living_stack: LivingStack) -> None:
    await run_script("leaving.mjs", living_stack, shots_of(living_stack))


async def test_guests_read_and_are_invited_or_are_asked_in_first(
    empty_stack: LivingStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    await run_script("guests.mjs", empty_stack, "open")

    await empty_stack.stop()
    monkeypatch.setenv("TINTYPE_GUESTS_MAY_READ", "false")
    await empty_stack.start()
    await run_script("guests.mjs", empty_stack, "closed")
