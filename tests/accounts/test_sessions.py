from typing import Any

import pytest
from httpx import AsyncClient

from shardwright.routing import Shard
from tests.accounts.helpers import NEW_PASSWORD, all_at_once, announced, on_shard_of, sign_in
from tests.application import serve
from tests.support import PASSWORD, Person
from tintype.accounts import Authentication, SessionsEnded, build_accounts_parts
from tintype.base.outbox import Outbox
from tintype.redis.leased_cache import LeasedCache
from tintype.redis.rate_limits import RateLimiter
from tintype.wiring import Rooms


def another_process(rooms: Rooms) -> Authentication:
    """Authentication as another web process has it: nothing is shared but the engines."""

    async def no_poke(_server: str) -> None:
        return

    redis, namespace = rooms.redis, rooms.settings.namespace
    return Authentication(
        build_accounts_parts(
            rooms.shards,
            Outbox(no_poke),
            LeasedCache(redis, namespace),
            RateLimiter(redis, namespace),
            settings=rooms.settings,
        )
    )


async def test_a_session_that_ended_is_refused_at_once_by_every_process(rooms: Rooms, ana: Person) -> None:
    other = another_process(rooms)
    for _ in range(2):  # the second time from the cache
        assert await other.find_account_by_token(ana.token) is not None

    await ana.call("DELETE", "/sessions/current")

    assert await other.find_account_by_token(ana.token) is None
    (ended,) = await announced(rooms, SessionsEnded)
    assert (str(ended.account_id), len(ended.session_ids)) == (ana.account_id, 1)


async def test_a_known_session_costs_no_read_of_the_database(
    rooms: Rooms, ana: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    await rooms.authentication.find_account_by_token(ana.token)

    async def refuse(*_: object, **__: object) -> Any:
        raise AssertionError("the database was asked")

    for name in ("fetch", "fetch_one", "fetch_value", "execute"):
        monkeypatch.setattr(Shard, name, refuse)
    monkeypatch.setattr(type(rooms.shards), "gather", refuse)

    assert await rooms.authentication.find_account_by_token(ana.token) is not None


async def test_a_lost_redis_signs_nobody_out(rooms: Rooms, ana: Person) -> None:
    await rooms.redis.flushdb()

    assert (await ana.call("GET", "/accounts/me")).status_code == 200


async def test_signing_out_clears_the_cookies(rooms: Rooms) -> None:
    async with serve(rooms) as browser:
        await browser.post("/api/v1/accounts", json={"username": "cleo", "password": PASSWORD})
        csrf = {"X-CSRF-Token": browser.cookies["tt_csrf"]}

        answer = await browser.delete("/api/v1/sessions/current", headers=csrf)

        assert (answer.status_code, answer.content) == (204, b"")
        assert set(browser.cookies) == {"tt_device"}


async def test_sessions_are_listed_with_their_device_and_ended_one_by_one(
    client: AsyncClient, ana: Person
) -> None:
    agent = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
    other = (await sign_in(ana, **{"User-Agent": agent})).json()["token"]

    listed = (await ana.call("GET", "/sessions")).json()["sessions"]
    by_device = {each["device"]: each for each in listed}
    assert len(listed) == 2
    assert by_device["Firefox on Linux"]["is_current"] is False
    assert [each["is_current"] for each in listed].count(True) == 1

    ended = await ana.call("DELETE", f"/sessions/{by_device['Firefox on Linux']['session_id']}")
    again = await ana.call("DELETE", f"/sessions/{by_device['Firefox on Linux']['session_id']}")

    answer = await client.get("/api/v1/accounts/me", headers={"Authorization": f"Bearer {other}"})
    assert (ended.status_code, again.status_code, answer.status_code) == (204, 404, 401)
    assert (await ana.call("GET", "/accounts/me")).status_code == 200


async def test_nobody_ends_the_session_of_somebody_else(ana: Person, bo: Person) -> None:
    (mine,) = (await ana.call("GET", "/sessions")).json()["sessions"]

    answer = await bo.call("DELETE", f"/sessions/{mine['session_id']}")

    assert (answer.status_code, answer.json()["code"]) == (404, "session_not_found")
    assert (await ana.call("GET", "/accounts/me")).status_code == 200


async def test_all_others_end_at_once(client: AsyncClient, ana: Person) -> None:
    tokens = [(await sign_in(ana)).json()["token"] for _ in range(3)]

    assert (await ana.call("DELETE", "/sessions")).status_code == 204

    for token in tokens:
        answer = await client.get("/api/v1/accounts/me", headers={"Authorization": f"Bearer {token}"})
        assert answer.status_code == 401
    assert len((await ana.call("GET", "/sessions")).json()["sessions"]) == 1


async def test_last_seen_is_written_at_most_once_in_ten_minutes(rooms: Rooms, ana: Person) -> None:
    seen = "SELECT last_seen_at, xmin::text FROM sessions"
    (first,) = await on_shard_of(rooms, ana.account_id, seen)
    await ana.call("GET", "/accounts/me")
    assert await on_shard_of(rooms, ana.account_id, seen) == [first]

    await on_shard_of(
        rooms, ana.account_id, "UPDATE sessions SET last_seen_at = now() - interval '11 minutes'"
    )
    await rooms.redis.flushdb()
    for _ in range(3):
        await ana.call("GET", "/accounts/me")

    (later,) = await on_shard_of(rooms, ana.account_id, seen)
    assert later["last_seen_at"] > first["last_seen_at"]


async def test_an_old_cookie_is_exchanged_at_its_next_use(rooms: Rooms) -> None:
    async with serve(rooms) as browser:
        joined = await browser.post("/api/v1/accounts", json={"username": "cleo", "password": PASSWORD})
        account_id, old = joined.json()["account"]["account_id"], browser.cookies["tt_session"]
        await on_shard_of(rooms, account_id, "UPDATE sessions SET renewed_at = now() - interval '8 days'")

        assert (await browser.get("/api/v1/accounts/me")).status_code == 200

        fresh = browser.cookies["tt_session"]
        changed = await browser.patch(
            "/api/v1/accounts/me", json={"bio": "hi"}, headers={"X-CSRF-Token": browser.cookies["tt_csrf"]}
        )
        listed = (await browser.get("/api/v1/sessions")).json()["sessions"]
        assert fresh != old
        assert changed.status_code == 200
        assert [each["is_current"] for each in listed] == [True]
        assert (
            await rooms.authentication.find_account_by_token(old) is not None
        )  # requests under way carry it

        await on_shard_of(rooms, account_id, "UPDATE sessions SET expires_at = now() WHERE is_replaced")
        await rooms.redis.flushdb()
        assert await rooms.authentication.find_account_by_token(old) is None
        assert await rooms.authentication.find_account_by_token(fresh) is not None


async def test_a_token_is_exchanged_once_even_concurrently(rooms: Rooms, ana: Person) -> None:
    fresh = await all_at_once(*(rooms.authentication.renew_session(ana.token) for _ in range(6)))

    assert len([token for token in fresh if token]) == 1
    answer = await ana.call("POST", "/sessions/current/token")
    assert (answer.status_code, answer.json()["code"]) == (404, "session_not_found")


async def test_ending_a_session_ends_what_it_was_exchanged_for_too(rooms: Rooms, ana: Person) -> None:
    fresh = (await ana.call("POST", "/sessions/current/token")).json()["token"]

    await ana.call("DELETE", "/sessions/current")

    assert await rooms.authentication.find_account_by_token(fresh) is None
    assert await rooms.authentication.find_account_by_token(ana.token) is None


async def test_changing_the_password_needs_the_current_one_and_ends_every_other_session(
    rooms: Rooms, ana: Person
) -> None:
    other = (await sign_in(ana)).json()["token"]
    body = {"current_password": "not the one", "new_password": NEW_PASSWORD}

    wrong = await ana.call("PUT", "/accounts/me/password", json=body)
    right = await ana.call("PUT", "/accounts/me/password", json=body | {"current_password": PASSWORD})

    assert (wrong.status_code, wrong.json()["code"], right.status_code) == (403, "proof_wrong", 204)
    assert await rooms.authentication.find_account_by_token(other) is None
    assert (await ana.call("GET", "/accounts/me")).status_code == 200
    assert (await sign_in(ana)).status_code == 403
    assert (await sign_in(ana, NEW_PASSWORD)).status_code == 201


async def test_credentials_change_only_after_recent_reauthentication(rooms: Rooms, ana: Person) -> None:
    await on_shard_of(rooms, ana.account_id, "UPDATE sessions SET proved_at = now() - interval '16 minutes'")
    await rooms.redis.flushdb()

    refused = await ana.call("POST", "/security/totp")
    wrong = await ana.call("POST", "/sessions/current/proof", json={"password": "not the one"})
    empty = await ana.call("POST", "/sessions/current/proof", json={})
    proved = await ana.call("POST", "/sessions/current/proof", json={"password": PASSWORD})
    allowed = await ana.call("POST", "/security/totp")

    assert (refused.status_code, refused.json()["code"]) == (403, "proof_needed")
    assert (wrong.status_code, empty.status_code, proved.status_code) == (403, 403, 204)
    assert allowed.status_code == 201
