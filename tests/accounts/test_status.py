import asyncio
from typing import Any

import pytest
from httpx import AsyncClient

from tests.accounts.helpers import (
    Mailbox,
    announced,
    confirm_email,
    on_every_shard,
    on_shard_of,
    sign_in,
)
from tests.accounts.test_second_factor import turn_on
from tests.support import PASSWORD, Person, eventually
from tintype.accounts import (
    AccountChanged,
    AccountCreated,
    AccountNotFound,
    PrivacyChanged,
    SessionsEnded,
    StatusChanged,
)
from tintype.base.ids import AccountId
from tintype.wiring import Rooms
from tintype.worker import Worker


def id_of(person: Person) -> AccountId:
    return AccountId(int(person.account_id))


async def test_a_suspended_account_is_signed_out_and_hidden_at_once(
    rooms: Rooms, ana: Person, bo: Person
) -> None:
    await rooms.accounts.suspend(id_of(ana))

    assert (await ana.call("GET", "/accounts/me")).status_code == 401
    assert (await bo.call("GET", "/accounts/by-name/ana")).status_code == 404
    assert (await sign_in(ana, "not the one")).json()["code"] == "credentials_wrong"
    assert [each.status for each in await announced(rooms, StatusChanged)] == ["suspended"]
    assert [each.session_ids for each in await announced(rooms, SessionsEnded)] == [()]


async def test_signing_in_undoes_a_deactivation(rooms: Rooms, ana: Person, bo: Person) -> None:
    assert (await ana.call("POST", "/accounts/me/deactivation")).status_code == 204
    assert (await bo.call("GET", "/accounts/by-name/ana")).status_code == 404
    assert (await ana.call("GET", "/accounts/me")).status_code == 401

    assert (await sign_in(ana)).status_code == 201

    assert (await bo.call("GET", "/accounts/by-name/ana")).status_code == 200
    assert [each.status for each in await announced(rooms, StatusChanged)] == ["deactivated", "active"]


@pytest.mark.slow
async def test_a_process_that_dies_before_it_invalidates_the_cache_is_covered_by_the_event(
    rooms: Rooms, ana: Person, working: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert await rooms.authentication.find_account_by_token(ana.token) is not None
    invalidate, is_lost = rooms.cache.invalidate, asyncio.Event()

    async def die(*_: Any, **__: Any) -> None:
        is_lost.set()

    monkeypatch.setattr(rooms.cache, "invalidate", die)
    await rooms.accounts.suspend(id_of(ana))
    monkeypatch.setattr(rooms.cache, "invalidate", invalidate)

    async def is_out() -> bool:
        return await rooms.authentication.find_account_by_token(ana.token) is None

    assert is_lost.is_set()
    await eventually(is_out, what="the worker drops the session from the cache")


async def test_sign_up_announces_the_account(rooms: Rooms, ana: Person) -> None:
    assert [str(each.account_id) for each in await announced(rooms, AccountCreated)] == [ana.account_id]


async def test_fields_that_are_not_sent_stay_unchanged(rooms: Rooms, ana: Person) -> None:
    await ana.call(
        "PATCH", "/accounts/me", json={"bio": "I take pictures.", "website": "https://ana.example/"}
    )
    changed = (
        await ana.call("PATCH", "/accounts/me", json={"full_name": "Ana  B.", "is_private": True})
    ).json()
    await ana.call("PATCH", "/accounts/me", json={"is_private": True})

    assert (changed["full_name"], changed["bio"]) == ("Ana B.", "I take pictures.")
    assert changed["website"] == "https://ana.example/"
    assert [each.is_private for each in await announced(rooms, PrivacyChanged)] == [True]
    assert len(await announced(rooms, AccountChanged)) == 3


@pytest.mark.parametrize(
    "body",
    [
        {"bio": "x" * 501},
        {"bio": "a\0b"},
        {"full_name": "x" * 101},
        {"website": "javascript:alert(1)"},
        {"website": "https://user:hush@example.org"},
        {"website": "https://"},
        {"website": "https://exa mple.org"},
        {"website": "https://example.org:99999"},
        {"website": "https://[::1"},
        {"website": 'https://example.org/"><script>'},
        {"website": "https://example.org/" + "x" * 200},
    ],
)
async def test_an_invalid_profile_is_refused(ana: Person, body: dict[str, str]) -> None:
    answer = await ana.call("PATCH", "/accounts/me", json=body)

    assert (answer.status_code, answer.json()["code"]) == (400, "profile_refused")


@pytest.mark.slow
async def test_an_avatar_is_set_from_ones_own_uploads_and_replaced(
    rooms: Rooms, ana: Person, bo: Person
) -> None:
    first, second = [(await ana.upload()).json()["media_id"] for _ in range(2)]

    shown = await ana.call("PUT", "/accounts/me/avatar", json={"media_id": first})
    foreign = await bo.call("PUT", "/accounts/me/avatar", json={"media_id": second})
    posted = await ana.call("POST", "/posts", json={"media_ids": [first]})
    served = await ana.client.get(shown.json()["profile_pic_url"])
    await ana.call("PUT", "/accounts/me/avatar", json={"media_id": second})

    assert served.status_code == 200
    assert foreign.status_code == 404
    assert posted.status_code != 201
    waiting = await on_shard_of(rooms, ana.account_id, "SELECT id FROM media WHERE state = 'deleted'")
    assert [str(row["id"]) for row in waiting] == [first]
    assert (await ana.call("DELETE", "/accounts/me/avatar")).status_code == 204
    assert (await ana.call("GET", "/accounts/me")).json()["profile_pic_url"] is None


async def test_erasing_an_account_leaves_nothing_on_any_shard(
    rooms: Rooms, mailbox: Mailbox, client: AsyncClient, ana: Person
) -> None:
    await confirm_email(rooms, mailbox, ana, "ana@example.org")
    await ana.call("PUT", "/accounts/me/phone", json={"phone": "+4930901820"})
    await ana.call("PUT", "/accounts/me/username", json={"username": "ana.two"})
    await rooms.accounts.verify(id_of(ana), is_verified=True)
    await ana.call("POST", "/tokens", json={"name": "n", "scopes": ["read"]})
    await turn_on(ana)
    exported = [record async for record in rooms.accounts.personal_data.export(id_of(ana))]
    assert {each.file for each in exported} >= {"account.json", "sessions.json", "tokens.json"}
    assert "ana@example.org" in str(exported[0].content)

    await rooms.accounts.begin_deletion(id_of(ana))
    assert (await ana.call("GET", "/accounts/me")).status_code == 401
    assert (await sign_in(ana)).status_code == 202  # the second factor comes first, whatever the standing
    assert await rooms.accounts.personal_data.count_left(id_of(ana)) > 0
    while await rooms.accounts.personal_data.erase(id_of(ana)):
        pass

    assert await rooms.accounts.personal_data.count_left(id_of(ana)) == 0
    with pytest.raises(AccountNotFound):
        await rooms.accounts.get(id_of(ana))
    left: list[Any] = []
    for number in rooms.shards.map.owners:
        async with rooms.shards.shard(number).begin() as tx:
            for table in ("usernames", "claims", "sessions", "mails", "recovery_codes", "former_usernames"):
                left += await tx.connection.fetch(f"SELECT '{table}' AS found FROM {table}")
    assert left == []
    assert (await rooms.accounts.sign_up("ana.two", PASSWORD)).account.username == "ana.two"


async def test_an_interrupted_erasure_is_completed_by_the_next_run(
    rooms: Rooms, ana: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def die(*_: Any) -> None:
        raise ConnectionResetError("killed")

    with monkeypatch.context() as broken:
        broken.setattr(rooms.authentication._sessions, "end_all_in", die)
        with pytest.raises(ConnectionResetError):
            await rooms.accounts.personal_data.erase(id_of(ana))

    assert await rooms.accounts.personal_data.count_left(id_of(ana)) > 0
    while await rooms.accounts.personal_data.erase(id_of(ana)):
        pass
    assert await rooms.accounts.personal_data.count_left(id_of(ana)) == 0


async def test_expired_rows_are_purged(rooms: Rooms, client: AsyncClient, ana: Person) -> None:
    await client.post("/api/v1/sessions/passkey-options")
    for table in ("sessions", "challenges"):
        await on_every_shard(rooms, f"UPDATE {table} SET expires_at = now() - interval '40 days'")

    await rooms.accounts.purge_expired()

    for number in rooms.shards.map.owners:
        async with rooms.shards.shard(number).begin() as tx:
            for table in ("sessions", "challenges"):
                assert await tx.connection.fetchval(f"SELECT count(*) FROM {table}") == 0


async def test_an_operator_sets_roles_and_lists_accounts(rooms: Rooms, ana: Person, bo: Person) -> None:
    await rooms.accounts.set_role(id_of(ana), "moderator")

    found = await rooms.accounts.list_newest(role="moderator", limit=10)

    assert [each.username for each in found] == ["ana"]
    assert (await rooms.accounts.get(id_of(ana))).is_moderator
    assert len(await rooms.accounts.list_newest(role=None, limit=10)) == 2


@pytest.mark.parametrize("text", ["Ana\u202eB", "\u2066Ana\u2069B", "A\u200bn\u200da\ufeffB", "AnaB\u3164"])
async def test_bidirectional_and_zero_width_characters_leave_names(ana: Person, text: str) -> None:
    changed = await ana.call("PATCH", "/accounts/me", json={"full_name": text})
    joined = await ana.client.post(
        "/api/v1/accounts", json={"username": "cleo", "password": PASSWORD, "full_name": text}
    )
    token = await ana.call("POST", "/tokens", json={"name": text, "scopes": ["read"]})

    names = [
        changed.json()["full_name"],
        joined.json()["account"]["full_name"],
        token.json()["about"]["name"],
    ]
    assert names == ["AnaB"] * 3
