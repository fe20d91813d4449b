import asyncio

import msgspec
import pytest
from httpx import AsyncClient

from tests.support import PASSWORD, Person, join
from tintype.accounts import (
    InvitationAccepted,
    InvitationNeeded,
    InvitationNotFound,
    RegistrationClosed,
    invitation_code,
)
from tintype.base.ids import AccountId
from tintype.base.settings import Registration
from tintype.wiring import Rooms, build_rooms


def with_registration(rooms: Rooms, registration: Registration) -> Rooms:
    """The same site with another setting."""
    settings = msgspec.structs.replace(rooms.settings, registration=registration)
    return build_rooms(settings, rooms.shards, rooms.redis, rooms.nats)


def id_of(person: Person) -> AccountId:
    return AccountId(int(person.account_id))


async def invite(rooms: Rooms, person: Person, max_uses: int = 10) -> str:
    return invitation_code(await rooms.accounts.invitations.create(id_of(person), max_uses=max_uses, days=1))


async def uses(rooms: Rooms, person: Person) -> list[int]:
    return [each.use_count for each in await rooms.accounts.invitations.list_of(id_of(person))]


async def test_who_joins_by_a_link_has_an_inviter_and_counts_as_a_use(
    rooms: Rooms, client: AsyncClient
) -> None:
    ana = await join(client, "ana")
    made = (await ana.call("POST", "/invitations", json={"max_uses": 2, "days": 3})).json()
    assert (made["max_uses"], made["use_count"]) == (2, 0)
    assert made["url"].endswith(f"/join?invitation={made['code']}")

    shown = await client.get(f"/api/v1/invitations/by-code/{made['code']}")
    answer = await client.post(
        "/api/v1/accounts", json={"username": "bo", "password": PASSWORD, "invitation": made["code"]}
    )

    assert shown.json()["inviter"]["username"] == "ana"
    assert answer.status_code == 201, answer.text
    bo = AccountId(int(answer.json()["account"]["account_id"]))
    assert await rooms.accounts.invitations.find_inviter(bo) == id_of(ana)
    listed = (await ana.call("GET", "/invitations")).json()["invitations"]
    assert [(each["invitation_id"], each["use_count"]) for each in listed] == [(made["invitation_id"], 1)]


async def test_of_many_who_use_the_last_use_at_once_one_joins(rooms: Rooms, client: AsyncClient) -> None:
    ana = await join(client, "ana")
    code = await invite(rooms, ana, max_uses=1)

    outcomes = await asyncio.gather(
        *(rooms.accounts.join(f"rival{n}", PASSWORD, invitation=code) for n in range(5)),
        return_exceptions=True,
    )

    assert sum(isinstance(each, InvitationNotFound) for each in outcomes) == 4
    assert await uses(rooms, ana) == [1]


async def test_revoked_foreign_and_wrong_links_open_nothing(rooms: Rooms, client: AsyncClient) -> None:
    ana, bo = await join(client, "ana"), await join(client, "bo")
    code = await invite(rooms, ana)
    [link] = await rooms.accounts.invitations.list_of(id_of(ana))

    stolen = await bo.call("DELETE", f"/invitations/{link.id}")
    wrong = [f"{code[:-1]}{'x' if code[-1] != 'x' else 'y'}", code[:5], "ü" * len(code), "z" * len(code)]
    answers = [await client.get(f"/api/v1/invitations/by-code/{each}") for each in wrong]
    revoked = await ana.call("DELETE", f"/invitations/{link.id}")
    again = await ana.call("DELETE", f"/invitations/{link.id}")

    assert (stolen.status_code, revoked.status_code, again.status_code) == (404, 204, 404)
    assert {each.json()["code"] for each in answers} == {"invitation_not_found"}
    with pytest.raises(InvitationNotFound):
        await rooms.accounts.join("late", PASSWORD, invitation=code)


async def test_links_of_an_account_that_is_not_active_do_not_work(rooms: Rooms, client: AsyncClient) -> None:
    ana = await join(client, "ana")
    code = await invite(rooms, ana)
    await rooms.accounts.suspend(id_of(ana))

    with pytest.raises(InvitationNotFound):
        await rooms.accounts.invitations.get_usable(code)

    await rooms.accounts.restore(id_of(ana))
    assert (await rooms.accounts.invitations.get_usable(code)).inviter_id == id_of(ana)


async def test_an_account_has_twenty_links_that_work(client: AsyncClient) -> None:
    ana = await join(client, "ana")
    made = [await ana.call("POST", "/invitations", json={}) for _ in range(20)]

    one_more = await ana.call("POST", "/invitations", json={})
    await ana.call("DELETE", f"/invitations/{made[0].json()['invitation_id']}")
    instead = await ana.call("POST", "/invitations", json={})

    assert {each.status_code for each in made} == {201}
    assert one_more.json()["code"] == "too_many_invitations"
    assert instead.status_code == 201


async def test_a_site_that_is_joined_by_invitation_admits_who_has_one_and_its_first_account(
    rooms: Rooms, client: AsyncClient
) -> None:
    site = with_registration(rooms, "invitation")
    assert await site.accounts.registration() == "open"
    first = await site.accounts.join("first", PASSWORD)

    assert await site.accounts.registration() == "invitation"
    with pytest.raises(InvitationNeeded):
        await site.accounts.join("uninvited", PASSWORD)
    link = await site.accounts.invitations.create(first.account.id, max_uses=1, days=1)
    made = await site.accounts.join("second", PASSWORD, invitation=invitation_code(link))

    assert await site.accounts.invitations.find_inviter(made.account.id) == first.account.id
    assert (await client.get("/api/v1/registration")).json() == {"registration": "open"}


async def test_a_closed_site_admits_nobody_with_or_without_a_link(rooms: Rooms, client: AsyncClient) -> None:
    ana = await join(client, "ana")
    site, code = with_registration(rooms, "closed"), await invite(rooms, ana)

    for invitation in ("", code):
        with pytest.raises(RegistrationClosed):
            await site.accounts.join("nobody", PASSWORD, invitation=invitation)


async def test_a_use_without_an_account_is_given_back_after_a_day(rooms: Rooms, client: AsyncClient) -> None:
    ana, bo = await join(client, "ana"), await join(client, "bo")
    code, invitations = await invite(rooms, ana), rooms.accounts.invitations
    usable = await invitations.get_usable(code)
    await rooms.accounts.join("cy", PASSWORD, invitation=code)
    await invitations.claim(usable, id_of(bo))  # and the process died
    cy = await rooms.accounts.get_by_name("cy")
    await invitations.confirm(InvitationAccepted(cy.id, id_of(ana), usable.id))
    await invitations.confirm(InvitationAccepted(id_of(bo), id_of(ana), usable.id))  # never recorded with bo
    assert await uses(rooms, ana) == [2]

    async with rooms.shards.owner(id_of(ana)).begin() as tx:
        await tx.connection.execute("UPDATE invitees SET claimed_at = now() - interval '2 days'")
    await rooms.accounts.purge_expired()

    assert await uses(rooms, ana) == [1]
    assert await invitations.find_inviter(cy.id) == id_of(ana)
