from typing import Any

import pytest
from httpx import AsyncClient

from tests.accounts.helpers import NEW_PASSWORD, all_at_once, on_shard_of, sign_in
from tests.support import PASSWORD, Person
from tintype.wiring import Rooms


async def make(person: Person, *scopes: str, **more: Any) -> Any:
    return await person.call("POST", "/tokens", json={"name": "backup", "scopes": list(scopes), **more})


def holding(person: Person, token: str) -> Person:
    return Person(person.client, person.account_id, person.username, token)


async def test_a_token_is_limited_to_its_scopes(ana: Person) -> None:
    program = holding(ana, (await make(ana, "read")).json()["token"])

    reading = await program.call("GET", "/accounts/me")
    writing = await program.call("PATCH", "/accounts/me", json={"bio": "hello"})

    assert reading.json()["username"] == "ana"
    assert (writing.status_code, writing.json()["code"]) == (403, "scope_missing")


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/tokens"),
        ("GET", "/tokens"),
        ("DELETE", "/tokens/1"),
        ("GET", "/sessions"),
        ("DELETE", "/sessions"),
        ("DELETE", "/sessions/current"),
        ("POST", "/sessions/current/token"),
        ("POST", "/sessions/current/proof"),
        ("PUT", "/accounts/me/password"),
        ("PUT", "/accounts/me/email"),
        ("PUT", "/accounts/me/username"),
        ("GET", "/accounts/me/private"),
        ("POST", "/accounts/me/deactivation"),
        ("POST", "/security/totp"),
        ("DELETE", "/security/totp"),
        ("POST", "/security/passkeys/options"),
    ],
)
async def test_no_token_creates_tokens_or_changes_credentials(ana: Person, method: str, path: str) -> None:
    every = (await ana.call("GET", "/tokens")).json()["known_scopes"]
    program = holding(ana, (await make(ana, *every)).json()["token"])

    answer = await program.call(method, path, json={} if method != "GET" else None)

    assert (answer.status_code, answer.json()["code"]) == (403, "scope_missing")
    assert (await ana.call("GET", "/accounts/me")).status_code == 200


async def test_a_token_is_shown_once_and_revoked_at_once(rooms: Rooms, ana: Person, bo: Person) -> None:
    made = (await make(ana, "read", days=7)).json()
    listed = (await ana.call("GET", "/tokens")).json()["tokens"]
    token_id = made["about"]["token_id"]

    assert [each["token_id"] for each in listed] == [token_id]
    assert made["token"] not in str(listed)
    assert (await holding(ana, made["token"]).call("GET", "/accounts/me")).status_code == 200
    assert (await bo.call("DELETE", f"/tokens/{token_id}")).status_code == 404
    assert (await ana.call("DELETE", f"/tokens/{token_id}")).status_code == 204
    assert (await holding(ana, made["token"]).call("GET", "/accounts/me")).status_code == 401
    rows = await on_shard_of(rooms, ana.account_id, "SELECT * FROM sessions")
    assert made["token"] not in str(rows)


async def test_a_token_expires(rooms: Rooms, ana: Person) -> None:
    program = holding(ana, (await make(ana, "read")).json()["token"])
    await program.call("GET", "/accounts/me")  # it is in the cache now
    await on_shard_of(
        rooms, ana.account_id, "UPDATE sessions SET expires_at = now() WHERE scopes IS NOT NULL"
    )
    await rooms.redis.flushdb()

    assert (await program.call("GET", "/accounts/me")).status_code == 401


@pytest.mark.parametrize(
    "body",
    [
        {"scopes": ["everything"]},
        {"scopes": []},
        {"name": ""},
        {"name": "x" * 101},
        {"name": "a\0b"},
        {"days": 367},
        {"days": 0},
        {"scopes": ["read"] * 21},
    ],
)
async def test_an_invalid_token_is_refused(ana: Person, body: dict[str, Any]) -> None:
    answer = await ana.call("POST", "/tokens", json={"name": "n", "scopes": ["read"], **body})

    assert answer.status_code == 400


async def test_there_are_at_most_fifty_tokens_even_when_created_concurrently(
    rooms: Rooms, ana: Person
) -> None:
    await on_shard_of(
        rooms,
        ana.account_id,
        "INSERT INTO sessions (token_hash, account_id, expires_at, scopes) "
        f"SELECT sha256(n::text::bytea), {ana.account_id}, now() + interval '1 day', '{{read}}' "
        "FROM generate_series(1, 48) AS n",
    )

    answers = await all_at_once(*(make(ana, "read") for _ in range(5)))

    assert sorted(each.status_code for each in answers) == [201, 201, 409, 409, 409]


async def test_a_wrong_token_is_refused_instead_of_ignored(client: AsyncClient) -> None:
    answer = await client.get("/api/v1/accounts/me", headers={"Authorization": "Bearer nonsense"})

    assert (answer.status_code, answer.json()["code"]) == (401, "not_signed_in")


@pytest.mark.parametrize(
    ("method", "path"),
    [("POST", "/accounts/me/exports"), ("GET", "/accounts/me/exports/1/file")],
)
async def test_no_token_makes_or_downloads_an_export_which_holds_more_than_any_scope_allows(
    ana: Person, method: str, path: str
) -> None:
    every = (await ana.call("GET", "/tokens")).json()["known_scopes"]
    program = holding(ana, (await make(ana, *every)).json()["token"])

    answer = await program.call(method, path)

    assert (answer.status_code, answer.json()["code"]) == (403, "scope_missing")


async def change_password(person: Person, **more: Any) -> Any:
    body = {"current_password": PASSWORD, "new_password": NEW_PASSWORD, **more}
    return await person.call("PUT", "/accounts/me/password", json=body)


async def log_out_elsewhere(person: Person, **more: Any) -> Any:
    return await person.call("DELETE", "/sessions", params=more)


@pytest.mark.parametrize("end", [change_password, log_out_elsewhere])
@pytest.mark.parametrize(
    ("chosen", "status"), [({}, 401), ({"keeps_tokens": False}, 401), ({"keeps_tokens": True}, 200)]
)
@pytest.mark.slow
async def test_tokens_end_with_the_other_sessions_unless_they_are_kept(
    ana: Person, end: Any, chosen: dict[str, bool], status: int
) -> None:
    program = holding(ana, (await make(ana, "read")).json()["token"])
    elsewhere = holding(ana, (await sign_in(ana)).json()["token"])
    assert (await program.call("GET", "/accounts/me")).status_code == 200  # it is in the cache now

    assert (await end(ana, **chosen)).status_code == 204

    assert (await program.call("GET", "/accounts/me")).status_code == status
    assert (await elsewhere.call("GET", "/accounts/me")).status_code == 401
    assert (await ana.call("GET", "/accounts/me")).status_code == 200
