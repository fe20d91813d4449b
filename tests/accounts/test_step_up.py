"""Where a second factor is set up, sensitive changes need the factor itself; otherwise the password, lately."""

from typing import Any

import pytest
from httpx import AsyncClient

from tests.accounts.authenticator import Authenticator
from tests.accounts.helpers import NEW_PASSWORD, all_at_once, on_shard_of, sign_in
from tests.accounts.test_passkeys import register
from tests.accounts.test_second_factor import code_of, finish, prove, turn_on
from tests.support import PASSWORD, Person
from tintype.wiring import Rooms

SENSITIVE: list[tuple[str, str, dict[str, Any] | None]] = [
    ("DELETE", "/security/totp", None),
    ("POST", "/security/totp", None),
    ("POST", "/security/recovery-codes", None),
    ("POST", "/security/passkeys/options", None),
    ("POST", "/security/passkeys", {"passkey": {}}),
    ("DELETE", "/security/passkeys/1", None),
    ("POST", "/tokens", {"name": "n", "scopes": ["read"]}),
    ("POST", "/accounts/me/exports", None),
    ("GET", "/accounts/me/exports/1/file", None),
    ("PUT", "/accounts/me/email", {"email": "new@example.org"}),
    ("DELETE", "/accounts/me/email", None),
    ("PUT", "/accounts/me/phone", {"phone": "+4930901820"}),
    ("DELETE", "/accounts/me/phone", None),
    ("POST", "/accounts/me/deactivation", None),
]
WITH_PASSWORD: list[tuple[str, str, dict[str, Any] | None]] = [
    ("PUT", "/accounts/me/password", {"current_password": PASSWORD, "new_password": NEW_PASSWORD}),
    ("POST", "/accounts/me/deletion", {"password": PASSWORD}),
]


async def call(person: Person, method: str, path: str, body: dict[str, Any] | None) -> Any:
    return await person.call(method, path, **({"json": body} if body is not None else {}))


async def age_proofs(rooms: Rooms, person: Person) -> None:
    await on_shard_of(
        rooms, person.account_id, "UPDATE sessions SET proved_at = now() - interval '16 minutes'"
    )


@pytest.mark.parametrize(("method", "path", "body"), [*SENSITIVE, *WITH_PASSWORD])
async def test_a_session_and_the_password_are_not_enough_where_there_is_a_second_factor(
    ana: Person, method: str, path: str, body: dict[str, Any] | None
) -> None:
    await turn_on(ana)

    by_password = await prove(ana, password=PASSWORD)
    refused = await call(ana, method, path, body)

    assert (by_password.status_code, by_password.json()["code"]) == (403, "factor_needed")
    assert (refused.status_code, refused.json()["code"]) == (403, "factor_needed")


@pytest.mark.parametrize(("method", "path", "body"), [*SENSITIVE, *WITH_PASSWORD])
async def test_a_code_lets_the_session_that_sent_it_do_them_for_some_minutes(
    rooms: Rooms, client: AsyncClient, ana: Person, method: str, path: str, body: dict[str, Any] | None
) -> None:
    _, codes = await turn_on(ana)
    ticket = (await sign_in(ana)).json()["ticket"]
    elsewhere = (await finish(client, ticket, codes[0])).json()["token"]
    other = Person(client, ana.account_id, "ana", elsewhere)

    assert (await prove(ana, code=codes[1])).status_code == 204

    assert (await call(other, method, path, body)).json()["code"] == "factor_needed"
    await age_proofs(rooms, ana)
    assert (await call(ana, method, path, body)).json()["code"] == "factor_needed"
    assert (await prove(ana, code=codes[2])).status_code == 204
    allowed = await call(ana, method, path, body)
    assert "factor_needed" not in allowed.text


@pytest.mark.parametrize(("method", "path", "body"), SENSITIVE)
async def test_without_a_second_factor_the_password_is_asked_for_after_some_minutes(
    rooms: Rooms, ana: Person, method: str, path: str, body: dict[str, Any] | None
) -> None:
    await age_proofs(rooms, ana)

    refused = await call(ana, method, path, body)
    wrong, right = await prove(ana, password="not the one"), await prove(ana, password=PASSWORD)
    allowed = await call(ana, method, path, body)

    assert (refused.status_code, refused.json()["code"]) == (403, "proof_needed")
    assert (wrong.json()["code"], right.status_code) == ("proof_wrong", 204)
    assert "proof_needed" not in allowed.text


async def test_signing_in_with_the_factor_is_no_proof_of_it_later(client: AsyncClient, ana: Person) -> None:
    secret, _ = await turn_on(ana)
    ticket = (await sign_in(ana)).json()["ticket"]
    entered = (await finish(client, ticket, code_of(secret))).json()["token"]

    answer = await Person(client, ana.account_id, "ana", entered).call("DELETE", "/security/totp")

    assert (answer.status_code, answer.json()["code"]) == (403, "factor_needed")


async def test_a_passkey_is_a_proof_of_the_factor(rooms: Rooms, ana: Person) -> None:
    device = Authenticator(rooms.credentials._passkeys.origin)
    await register(ana, device)
    await turn_on(ana)
    options = (await ana.call("POST", "/sessions/current/proof/passkey-options")).json()["public_key"]

    proven = await ana.call("POST", "/sessions/current/proof", json={"passkey": device.answer(options)})

    assert proven.status_code == 204
    assert (await ana.call("DELETE", "/security/totp")).status_code == 204


async def test_a_password_sent_while_the_factor_is_turned_on_proves_nothing(ana: Person) -> None:
    secret = (await ana.call("POST", "/security/totp")).json()["secret"]

    await all_at_once(
        ana.call("POST", "/security/totp/confirm", json={"code": code_of(secret)}),
        *(prove(ana, password=PASSWORD) for _ in range(6)),
    )

    answer = await ana.call("POST", "/tokens", json={"name": "n", "scopes": ["read"]})
    assert (answer.status_code, answer.json()["code"]) == (403, "factor_needed")


async def test_a_client_can_ask_whether_a_proof_is_needed(rooms: Rooms, ana: Person) -> None:
    fresh = await ana.call("GET", "/sessions/current/proof")
    await age_proofs(rooms, ana)
    old = await ana.call("GET", "/sessions/current/proof")
    await prove(ana, password=PASSWORD)
    await turn_on(ana)
    factor = await ana.call("GET", "/sessions/current/proof")

    assert fresh.status_code == 204
    assert (old.json()["code"], factor.json()["code"]) == ("proof_needed", "factor_needed")


async def test_guessing_codes_as_a_proof_is_rate_limited(ana: Person) -> None:
    await turn_on(ana)

    answers = [await prove(ana, code=f"{number:06}") for number in range(12)]

    assert answers[-1].status_code == 429
