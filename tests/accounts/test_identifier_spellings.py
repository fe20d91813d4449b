# ruff: noqa: RUF001 - look-alikes are what this is about
"""Limits count the account that is meant, however its name is spelled and whichever of its names is used."""

from dataclasses import replace
from typing import Any

import msgspec
import pytest
from httpx import AsyncClient

from tests.accounts.helpers import Mailbox, confirm_email, deliver
from tests.accounts.test_rate_limits import WRONG, knock
from tests.application import serve
from tests.support import PASSWORD, Person
from tintype.accounts.identifiers import identifier_key, mailbox_of
from tintype.wiring import Rooms

HERS = "ana@example.org"
PHONE = "+4930901820"
NETWORK = "203.0.113.5"


@pytest.fixture
async def reachable(rooms: Rooms, mailbox: Mailbox, ana: Person) -> Person:
    """Somebody with a username, an email address and a phone number."""
    await confirm_email(rooms, mailbox, ana, HERS)
    assert (await ana.call("PUT", "/accounts/me/phone", json={"phone": PHONE})).status_code == 204
    return ana


@pytest.mark.parametrize(
    "spellings",
    [
        ("ana", "ANA", " ana ", "ａｎａ", "ＡＮＡ"),
        (HERS, HERS.upper(), "ana@ｅｘａｍｐｌｅ.org", "ana@example。org", "ana@EXAMPLE.ORG"),
        (PHONE, "+49 30 901820", "+49-30-901820", "+49 (30) 90 18 20", "＋４９３０９０１８２０"),
        ("ana", HERS, PHONE),
    ],
    ids=["username", "address", "number", "all three"],
)
async def test_guesses_at_one_account_are_counted_together(
    client: AsyncClient, reachable: Person, spellings: tuple[str, ...]
) -> None:
    tries = [await knock(client, spellings[count % len(spellings)], NETWORK) for count in range(11)]

    assert tries == [403] * 10 + [429]


@pytest.mark.parametrize(
    "spelling", ["ＡＮＡ", "ana@ｅｘａｍｐｌｅ.org", "+49-30-901820", "＋４９３０９０１８２０"]
)
async def test_every_spelling_signs_in(client: AsyncClient, reachable: Person, spelling: str) -> None:
    assert await knock(client, spelling, NETWORK, PASSWORD) == 201


async def test_a_name_that_nobody_has_is_counted_by_what_is_meant_too(client: AsyncClient) -> None:
    spellings = ("+49 30 901820", "+49-30-901820", "＋４９３０９０１８２０")

    tries = [await knock(client, spellings[count % 3], NETWORK) for count in range(11)]

    assert tries == [403] * 10 + [429]


async def test_a_correct_password_resets_the_limit_for_every_spelling(
    client: AsyncClient, reachable: Person
) -> None:
    for _ in range(9):
        assert await knock(client, "+49-30-901820", NETWORK) == 403
    assert await knock(client, "ana", NETWORK, PASSWORD) == 201

    assert [await knock(client, HERS, NETWORK) for _ in range(9)] == [403] * 9


async def test_requests_for_a_reset_are_limited_however_the_name_is_spelled(client: AsyncClient) -> None:
    spellings = (
        "victim@example.org",
        "VICTIM@example.org",
        "victim@ｅｘａｍｐｌｅ.org",
        "victim@example.org.",
    )

    answers = [await client.post("/api/v1/password-resets", json={"username": each}) for each in spellings]

    assert [each.status_code for each in answers] == [202, 202, 202, 429]


async def test_an_account_gets_few_reset_mails_whichever_of_its_names_is_used(
    rooms: Rooms, mailbox: Mailbox, client: AsyncClient, reachable: Person
) -> None:
    for name in ("ana", HERS, PHONE) * 3:
        assert (await client.post("/api/v1/password-resets", json={"username": name})).status_code == 202

    await deliver(rooms)

    assert mailbox.subjects(HERS).count("Choose a new password") == 3


async def test_labels_behind_a_plus_do_not_flood_a_mailbox(ana: Person, bo: Person) -> None:
    addresses = [f"victim+{number}@example.org" for number in range(4)]

    answers = [await ana.call("PUT", "/accounts/me/email", json={"email": each}) for each in addresses]

    assert [each.status_code for each in answers] == [202, 202, 202, 429]


async def test_requests_for_confirmations_are_limited_per_account(ana: Person) -> None:
    addresses = [f"victim{number}@example.org" for number in range(6)]

    answers = [await ana.call("PUT", "/accounts/me/email", json={"email": each}) for each in addresses]

    assert [each.status_code for each in answers] == [202] * 5 + [429]


async def guess_names(rooms: Rooms, **changed: Any) -> list[int]:
    """Guess at many names from this machine itself, without any header of a proxy."""
    settings = msgspec.structs.replace(rooms.settings, **changed)
    async with serve(replace(rooms, settings=settings)) as client:
        bodies = [{"username": f"name{count}", "password": WRONG} for count in range(61)]
        return [(await client.post("/api/v1/sessions", json=body)).status_code for body in bodies]


async def test_this_machine_has_no_limit_where_there_is_no_proxy(rooms: Rooms) -> None:
    assert await guess_names(rooms) == [403] * 61


@pytest.mark.parametrize(
    "changed",
    [{"public_url": "http://photos.example.org"}, {"trusted_proxies": ("127.0.0.0/8", "10.0.0.0/8")}],
    ids=["public address", "proxies"],
)
@pytest.mark.slow
async def test_behind_a_proxy_that_sends_no_header_everybody_shares_one_limit(
    rooms: Rooms, changed: dict[str, Any]
) -> None:
    assert await guess_names(rooms, **changed) == [403] * 60 + [429]


def test_addresses_with_labels_stay_addresses_of_their_own() -> None:
    assert identifier_key("ana+1@example.org") != identifier_key("ana@example.org")
    assert mailbox_of("ana+1@example.org") == mailbox_of("ana@example.org") == "ana@example.org"
    assert mailbox_of("+tag@example.org") == "+tag@example.org"
