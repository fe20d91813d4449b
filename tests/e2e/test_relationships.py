"""Follows, follow requests, reports, moderation, suspension, blocks, account deletion and guests, in real browsers."""

import pytest

from tests.e2e.browser_flows import IN_BROWSER, make_moderator, run_flow_with_photo, screenshot_folder
from tests.living_stack import LivingStack

pytestmark = IN_BROWSER


async def test_users_find_follow_report_and_block_each_other(living_stack: LivingStack) -> None:
    moderator = await make_moderator(living_stack)

    await run_flow_with_photo("followAndModerate.mjs", living_stack, moderator)


async def test_a_private_account_is_visible_to_approved_followers_only(living_stack: LivingStack) -> None:
    await run_flow_with_photo("privateAccount.mjs", living_stack, screenshot_folder(living_stack))


async def test_a_block_hides_both_sides_from_each_other(living_stack: LivingStack) -> None:
    await run_flow_with_photo("blocking.mjs", living_stack, screenshot_folder(living_stack))


async def test_a_suspended_account_can_appeal_and_export_its_data(living_stack: LivingStack) -> None:
    moderator = await make_moderator(living_stack)

    await run_flow_with_photo("suspended.mjs", living_stack, moderator, screenshot_folder(living_stack))


async def test_a_deleted_account_is_hidden_until_its_owner_logs_in(living_stack: LivingStack) -> None:
    await run_flow_with_photo("accountDeletion.mjs", living_stack, screenshot_folder(living_stack))


async def test_newcomers_join_by_invitation_and_find_people_and_hashtags(living_stack: LivingStack) -> None:
    await run_flow_with_photo("invitations.mjs", living_stack, screenshot_folder(living_stack))


async def test_guests_may_read_or_are_sent_to_the_login(
    empty_stack: LivingStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    await run_flow_with_photo("newcomers.mjs", empty_stack)
    await run_flow_with_photo("guests.mjs", empty_stack, "open")

    await empty_stack.stop()
    monkeypatch.setenv("TINTYPE_GUESTS_MAY_READ", "false")
    await empty_stack.start()
    await run_flow_with_photo("guests.mjs", empty_stack, "closed")
