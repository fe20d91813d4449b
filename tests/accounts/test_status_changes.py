"""One table of every status of an account and everything that changes it, tried on real accounts."""

from collections.abc import Awaitable, Callable

import pytest
from httpx import AsyncClient

from shardwright.routing import Query
from tests.accounts.helpers import announced, sign_in
from tests.moderation.support import appoint, decide, list_cases, report
from tests.support import PASSWORD, Person
from tintype.accounts import AccountGone, AccountNotFound, StatusChanged
from tintype.accounts.errors import AccountLeaving
from tintype.base.ids import AccountId
from tintype.personal_data import DepartureDue
from tintype.wiring import Rooms

MAKE_DUE = Query.parse("make_due", "UPDATE departures SET due_at = now() WHERE account_id = :account_id")
READ_STANDING = Query.parse(
    "read_standing", "SELECT status, status_after_suspension FROM accounts WHERE id = :id"
)
Step = Callable[[Rooms, AccountId], Awaitable[object]]


def id_of(person: Person) -> AccountId:
    return AccountId(int(person.account_id))


async def enter(rooms: Rooms, account_id: AccountId) -> None:
    account = await rooms.accounts.get(account_id)
    await rooms.authentication.sign_in(account.username, PASSWORD)


async def end_grace_period(rooms: Rooms, account_id: AccountId) -> None:
    """The time of a requested deletion has come, if one is requested."""
    await rooms.shards.owner(account_id).execute(MAKE_DUE, account_id=account_id)
    await rooms.personal_data.start_due_erasures()


STEPS: dict[str, Step] = {
    "suspend": lambda rooms, account_id: rooms.accounts.suspend(account_id),
    "lift suspension": lambda rooms, account_id: rooms.accounts.lift_suspension(account_id),
    "restore": lambda rooms, account_id: rooms.accounts.restore(account_id),
    "deactivate": lambda rooms, account_id: rooms.accounts.deactivate(account_id),
    "request deletion": lambda rooms, account_id: rooms.personal_data.request_erasure(account_id, PASSWORD),
    "sign in": enter,
    "end of grace period": end_grace_period,
}
REACHED_BY = {
    "active": [],
    "deactivated": ["deactivate"],
    "leaving": ["request deletion"],
    "suspended": ["suspend"],
    "suspended, then deactivated": ["deactivate", "suspend"],
    "suspended, then leaving": ["request deletion", "suspend"],
    "gone": ["request deletion", "end of grace period"],
}
BECOMES = {
    "active": {
        "suspend": "suspended",
        "lift suspension": "active",
        "restore": "active",
        "deactivate": "deactivated",
        "request deletion": "leaving",
        "sign in": "active",
        "end of grace period": "active",
    },
    "deactivated": {
        "suspend": "suspended, then deactivated",
        "lift suspension": "deactivated",
        "restore": "active",
        "deactivate": "deactivated",
        "request deletion": "leaving",
        "sign in": "active",
        "end of grace period": "deactivated",
    },
    "leaving": {
        "suspend": "suspended, then leaving",
        "lift suspension": "leaving",
        "restore": "active",
        "deactivate": "leaving",
        "request deletion": "leaving",
        "sign in": "active",
        "end of grace period": "gone",
    },
    "suspended": {
        "suspend": "suspended",
        "lift suspension": "active",
        "restore": "active",
        "deactivate": "suspended, then deactivated",
        "request deletion": "suspended, then leaving",
        "sign in": "suspended",
        "end of grace period": "suspended",
    },
    "suspended, then deactivated": {
        "suspend": "suspended, then deactivated",
        "lift suspension": "deactivated",
        "restore": "deactivated",
        "deactivate": "suspended, then deactivated",
        "request deletion": "suspended, then leaving",
        "sign in": "suspended",
        "end of grace period": "suspended, then deactivated",
    },
    "suspended, then leaving": {
        "suspend": "suspended, then leaving",
        "lift suspension": "leaving",
        "restore": "leaving",
        "deactivate": "suspended, then leaving",
        "request deletion": "suspended, then leaving",
        "sign in": "suspended",
        "end of grace period": "gone",
    },
    "gone": {
        "suspend": "account_gone",
        "lift suspension": "account_gone",
        "restore": "account_gone",
        "deactivate": "account_gone",
        "request deletion": "account_gone",
        "sign in": "account_leaving",
        "end of grace period": "gone",
    },
}


async def read_standing(rooms: Rooms, account_id: AccountId) -> str:
    row = await rooms.shards.owner(account_id).fetch_one(READ_STANDING, id=account_id)
    assert row is not None
    status, after = str(row["status"]), row["status_after_suspension"]
    return f"{status}, then {after}" if after not in {None, "active"} else status


async def attempt(step: Step, rooms: Rooms, account_id: AccountId) -> str:
    """What the account is afterwards, or the code of the refusal."""
    try:
        await step(rooms, account_id)
    except (AccountGone, AccountLeaving) as error:
        return error.code
    return await read_standing(rooms, account_id)


@pytest.mark.parametrize("before", REACHED_BY)
async def test_every_change_leads_from_every_status_where_the_table_says(rooms: Rooms, before: str) -> None:
    found: dict[str, str] = {}
    for number, (name, step) in enumerate(STEPS.items()):
        account_id = (await rooms.accounts.sign_up(f"someone.{number}", PASSWORD)).account.id
        for earlier in REACHED_BY[before]:
            await STEPS[earlier](rooms, account_id)
        assert await read_standing(rooms, account_id) == before

        found[name] = await attempt(step, rooms, account_id)

    assert found == BECOMES[before]


async def request_deletion(person: Person) -> None:
    answer = await person.call("POST", "/accounts/me/deletion", json={"password": PASSWORD})
    assert answer.status_code == 202, answer.text


async def suspend_as_moderator(rooms: Rooms, client: AsyncClient, person: Person, reporter: Person) -> None:
    """Report somebody who is still there, let them ask for their deletion, and decide the case after that."""
    moderator = await appoint(rooms, client, "maud")
    await report(reporter, "account", person.account_id)
    await request_deletion(person)
    (case,) = await list_cases(moderator)
    decided = await decide(moderator, case, "suspend")
    assert decided.status_code == 201, decided.text


async def test_a_moderator_suspends_an_account_that_waits_for_its_deletion(
    rooms: Rooms, client: AsyncClient, ana: Person, bo: Person
) -> None:
    await suspend_as_moderator(rooms, client, ana, bo)

    signed_in = await sign_in(ana)

    assert signed_in.json()["account"]["is_suspended"] is True
    assert (await bo.call("GET", "/accounts/by-name/ana")).status_code == 404
    me = Person(client, ana.account_id, "ana", signed_in.json()["token"])
    assert (await me.call("GET", "/feed")).json()["code"] == "account_suspended"


async def test_signing_in_cancels_the_deletion_of_a_suspended_account(
    rooms: Rooms, client: AsyncClient, ana: Person, bo: Person
) -> None:
    await suspend_as_moderator(rooms, client, ana, bo)
    await sign_in(ana)

    for change in await announced(rooms, StatusChanged):
        await rooms.personal_data.cancel_erasure(change)

    assert await rooms.personal_data.find_erasure(id_of(ana)) is None
    assert await read_standing(rooms, id_of(ana)) == "suspended"


async def test_a_suspension_right_after_a_cancelled_deletion_does_not_bring_the_deletion_back(
    rooms: Rooms, ana: Person
) -> None:
    await request_deletion(ana)
    await sign_in(ana)
    await rooms.accounts.suspend(id_of(ana))

    await end_grace_period(rooms, id_of(ana))

    assert await read_standing(rooms, id_of(ana)) == "suspended"
    assert await rooms.personal_data.find_erasure(id_of(ana)) is None


async def test_a_suspended_account_is_erased_when_its_grace_period_ends(
    rooms: Rooms, client: AsyncClient, ana: Person, bo: Person
) -> None:
    await suspend_as_moderator(rooms, client, ana, bo)
    for change in await announced(rooms, StatusChanged):
        await rooms.personal_data.cancel_erasure(change)

    await end_grace_period(rooms, id_of(ana))
    await rooms.personal_data.erase(DepartureDue(id_of(ana)))

    with pytest.raises(AccountNotFound):
        await rooms.accounts.get(id_of(ana))


@pytest.mark.parametrize("action", ["suspend", "unsuspend"])
async def test_a_decision_about_an_account_that_is_being_erased_changes_nothing(
    rooms: Rooms, client: AsyncClient, ana: Person, bo: Person, action: str
) -> None:
    moderator = await appoint(rooms, client, "maud")
    await report(bo, "account", ana.account_id)
    await request_deletion(ana)
    await end_grace_period(rooms, id_of(ana))
    (case,) = await list_cases(moderator)

    decided = await decide(moderator, case, action)

    assert decided.status_code == 201, decided.text
    assert await read_standing(rooms, id_of(ana)) == "gone"
