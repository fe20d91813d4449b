"""Suspended people sign in far enough to appeal and to take their data along, and no further."""

import io
import json
import zipfile
from typing import Any

import pytest
from httpx import AsyncClient
from litestar.routes import HTTPRoute

from tests.accounts.helpers import Mailbox, confirm_email, deliver, sign_in
from tests.accounts.test_second_factor import finish, prove, turn_on
from tests.application import serve
from tests.moderation.support import appoint, decide, get_case, list_cases, report
from tests.support import PASSWORD, Person
from tintype.api import create_app
from tintype.base.ids import AccountId
from tintype.base.settings import Settings
from tintype.personal_data import ExportRequested
from tintype.wiring import Rooms

OPEN_ROUTES = {
    "GET /api/v1/accounts/me",
    "GET /api/v1/decisions",
    "POST /api/v1/decisions/{case_id}/appeal",
    "POST /api/v1/accounts/me/exports",
    "GET /api/v1/accounts/me/exports",
    "GET /api/v1/accounts/me/exports/{export_id}",
    "GET /api/v1/accounts/me/exports/{export_id}/file",
    "DELETE /api/v1/sessions/current",
    "GET /api/v1/sessions/current/proof",
    "POST /api/v1/sessions/current/proof",
    "POST /api/v1/sessions/current/proof/passkey-options",
}


def id_of(person: Person) -> AccountId:
    return AccountId(int(person.account_id))


async def enter(person: Person) -> Person:
    """A new session of somebody."""
    answer = await sign_in(person)
    assert answer.status_code == 201, answer.text
    return Person(person.client, person.account_id, person.username, answer.json()["token"])


@pytest.fixture
async def suspended(rooms: Rooms, ana: Person) -> Person:
    await rooms.accounts.suspend(id_of(ana))
    return await enter(ana)


async def test_signing_in_says_that_the_account_is_suspended(rooms: Rooms, ana: Person) -> None:
    assert (await ana.call("GET", "/accounts/me")).json()["is_suspended"] is False
    await rooms.accounts.suspend(id_of(ana))

    answer = await sign_in(ana)

    assert answer.json()["account"]["is_suspended"] is True
    me = await Person(ana.client, ana.account_id, "ana", answer.json()["token"]).call("GET", "/accounts/me")
    assert me.json()["is_suspended"] is True


@pytest.mark.slow
async def test_every_route_but_those_for_appeals_and_exports_is_closed(suspended: Person) -> None:
    answers: dict[str, Any] = {}
    for route in create_app(Settings()).routes:
        if not isinstance(route, HTTPRoute):
            continue
        for handler in route.route_handlers:
            needed = {"viewer", "guest", "current", "proven", "confirmed"}
            if not needed & handler.parsed_fn_signature.parameters.keys():
                continue
            for method in handler.http_methods - {"OPTIONS"}:
                path = route.path_format.format_map(_Ones()).removeprefix("/api/v1")
                name = f"{method} {route.path_format}"
                if name not in OPEN_ROUTES:
                    answers[name] = await suspended.call(method, path)

    assert len(answers) > 100
    allowed = {name: each.text for name, each in answers.items() if each.status_code != 403}
    others = {
        name: each.text
        for name, each in answers.items()
        if each.text and "account_suspended" not in each.text
    }
    assert (allowed, others) == ({}, {})


async def test_the_session_cookie_of_a_suspended_person_reads_nothing_either(
    rooms: Rooms, ana: Person
) -> None:
    await rooms.accounts.suspend(id_of(ana))
    async with serve(rooms) as browser:
        await browser.post("/api/v1/sessions", json={"username": "ana", "password": PASSWORD})

        feed = await browser.get("/api/v1/feed")
        again = await browser.get("/api/v1/feed")

    assert {feed.json()["code"], again.json()["code"]} == {"account_suspended"}


async def test_a_suspended_person_appeals_and_is_back_when_the_decision_is_reversed(
    rooms: Rooms, client: AsyncClient, ana: Person, bo: Person
) -> None:
    moderator = await appoint(rooms, client, "maud")
    await report(bo, "account", ana.account_id)
    (case,) = await list_cases(moderator)
    decided = await decide(moderator, case, "suspend")
    assert decided.status_code == 201, decided.text
    me = await enter(ana)

    (decision,) = (await me.call("GET", "/decisions")).json()["decisions"]
    appealed = await me.call("POST", f"/decisions/{decision['case_id']}/appeal", json={"text": "It was art."})
    assert appealed.status_code == 204
    assert (await get_case(moderator, case))["case"]["appeal"] == "It was art."

    await decide(moderator, case, "unsuspend")
    assert (await me.call("GET", "/feed")).status_code == 200


async def test_a_repeated_decision_does_not_end_the_session_of_an_appeal(
    rooms: Rooms, suspended: Person
) -> None:
    await rooms.accounts.suspend(id_of(suspended))

    assert (await suspended.call("GET", "/accounts/me")).status_code == 200


async def test_a_suspended_person_takes_their_data_along(rooms: Rooms, suspended: Person) -> None:
    made = (await suspended.call("POST", "/accounts/me/exports")).json()
    await rooms.personal_data.make_export(ExportRequested(id_of(suspended), int(made["export_id"])))

    answer = await suspended.call("GET", f"/accounts/me/exports/{made['export_id']}/file")

    archive = zipfile.ZipFile(io.BytesIO(answer.content))
    assert json.loads(archive.read("account.json"))[0]["username"] == "ana"


async def test_a_second_factor_is_asked_for_as_always(rooms: Rooms, client: AsyncClient, ana: Person) -> None:
    _, codes = await turn_on(ana)
    await rooms.accounts.suspend(id_of(ana))

    asked = await sign_in(ana)
    entered = await finish(client, asked.json()["ticket"], codes[0])
    me = Person(client, ana.account_id, "ana", entered.json()["token"])
    refused = await me.call("POST", "/accounts/me/exports")
    await prove(me, code=codes[1])

    assert (asked.status_code, entered.status_code) == (202, 201)
    assert refused.json()["code"] == "factor_needed"
    assert (await me.call("POST", "/accounts/me/exports")).status_code == 202


async def test_signing_in_does_not_end_a_suspension(rooms: Rooms, suspended: Person) -> None:
    assert (await rooms.accounts.get(id_of(suspended))).status == "suspended"
    assert (await suspended.call("DELETE", "/sessions/current")).status_code == 204
    assert (await suspended.call("GET", "/accounts/me")).status_code == 401


async def test_a_forgotten_password_is_reset_while_suspended(
    rooms: Rooms, mailbox: Mailbox, client: AsyncClient, ana: Person
) -> None:
    await confirm_email(rooms, mailbox, ana, "ana@example.org")
    await rooms.accounts.suspend(id_of(ana))

    await client.post("/api/v1/password-resets", json={"username": "ana"})
    await deliver(rooms)
    body = {"token": mailbox.token(), "new_password": "staple the quiet river"}
    assert (await client.post("/api/v1/password-resets/use", json=body)).status_code == 204

    assert (await sign_in(ana, "staple the quiet river")).status_code == 201
    assert (await rooms.accounts.get(id_of(ana))).status == "suspended"


class _Ones(dict[str, str]):
    def __missing__(self, key: str) -> str:
        return "1"
