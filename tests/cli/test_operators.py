import asyncio
import json
from typing import Any

import pytest
from httpx import AsyncClient
from typer.testing import CliRunner

from tests.moderation.support import appoint
from tests.support import PASSWORD, Person
from tintype.accounts import AccountGone
from tintype.base.ids import AccountId
from tintype.cli.entry import build_app
from tintype.cli.sizes import format_size, parse_quota
from tintype.wiring import Rooms


@pytest.fixture
def reachable(rooms: Rooms, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command line connects to this test's servers."""
    settings = rooms.settings
    for name in ("home", "redis", "namespace", "secret_key", "shard_count"):
        monkeypatch.setenv(f"TINTYPE_{name.upper()}", str(getattr(settings, name)))
    monkeypatch.setenv("TINTYPE_POSTGRES", json.dumps(settings.postgres))
    monkeypatch.setenv("TINTYPE_NATS", json.dumps(settings.nats))


async def command(*words: str, room: str = "accounts") -> Any:
    result = await asyncio.to_thread(CliRunner().invoke, build_app([room]), [room, *words])
    assert result.exit_code == 0, result.output + repr(result.exception)
    return result.stdout


@pytest.mark.slow
@pytest.mark.usefixtures("reachable")
async def test_an_operator_makes_moderators_verifies_suspends_and_restores(rooms: Rooms, ana: Person) -> None:
    await command("role", "ana", "moderator")
    await command("verify", "ana")
    (listed,) = json.loads(await command("list", "--role", "moderator", "--json"))
    await command("suspend", "ana")
    suspended = await ana.call("GET", "/accounts/me")
    await command("restore", "ana")
    await command("verify", "ana", "--undo")

    account = await rooms.accounts.get(AccountId(int(ana.account_id)))
    assert (listed["username"], listed["role"], listed["is_verified"]) == ("ana", "moderator", True)
    assert suspended.status_code == 401
    assert account.is_active
    assert not account.is_verified


@pytest.mark.usefixtures("reachable")
@pytest.mark.slow
async def test_a_suspension_on_the_command_line_can_be_appealed(
    rooms: Rooms, client: AsyncClient, ana: Person
) -> None:
    for _ in range(2):
        await command("suspend", "ana")
    entered = await client.post("/api/v1/sessions", json={"username": "ana", "password": PASSWORD})
    client.cookies.clear()
    me = Person(client, ana.account_id, "ana", entered.json()["token"])
    (decision,) = (await me.call("GET", "/decisions")).json()["decisions"]

    appealed = await me.call("POST", f"/decisions/{decision['case_id']}/appeal", json={"text": "It was art."})

    assert (decision["outcome"], decision["may_appeal"], appealed.status_code) == ("suspended", True, 204)
    assert [each.action for each in await rooms.moderation.list_history(int(decision["case_id"]))] == [
        "suspend"
    ]
    moderator = await appoint(rooms, client, "maud")
    (entry,) = (await moderator.call("GET", "/moderation/log")).json()["entries"]
    assert entry["reason"] == "On the command line."
    await command("restore", "ana")
    (decision,) = (await me.call("GET", "/decisions")).json()["decisions"]
    assert (decision["outcome"], (await me.call("GET", "/feed")).status_code) == ("unsuspended", 200)


@pytest.mark.usefixtures("reachable")
@pytest.mark.slow
async def test_a_restored_account_is_what_its_owner_chose(rooms: Rooms, ana: Person) -> None:
    await rooms.personal_data.request_erasure(AccountId(int(ana.account_id)), PASSWORD)

    said = [(await command(word, "ana")).strip() for word in ("suspend", "restore", "restore")]

    assert said == ["ana: suspended", "ana: leaving", "ana: active"]


@pytest.mark.usefixtures("reachable")
@pytest.mark.parametrize("word", ["suspend", "restore"])
@pytest.mark.slow
async def test_an_account_that_is_being_erased_is_neither_suspended_nor_restored(
    rooms: Rooms, ana: Person, word: str
) -> None:
    account_id = AccountId(int(ana.account_id))
    await rooms.personal_data.request_erasure(account_id, PASSWORD)
    await rooms.personal_data.start_erasure(account_id)

    result = await asyncio.to_thread(CliRunner().invoke, build_app(["accounts"]), ["accounts", word, "ana"])

    assert isinstance(result.exception, AccountGone)
    assert "erased for good" in str(result.exception)
    assert (await rooms.accounts.get(account_id)).status == "gone"


@pytest.mark.usefixtures("reachable")
@pytest.mark.slow
async def test_an_operator_sees_how_a_feed_is_ranked(ana: Person, bo: Person) -> None:
    post = await ana.publish("#sea")
    await bo.call("PUT", f"/accounts/{ana.account_id}/follow")

    output = await command("why", "bo", room="feed")

    assert post["post_id"] in output.replace("\n", "")


@pytest.mark.usefixtures("reachable")
@pytest.mark.slow
async def test_an_operator_sees_and_sets_how_much_somebody_may_store(rooms: Rooms, ana: Person) -> None:
    await ana.upload()
    usage = await rooms.media.usage.get(AccountId(int(ana.account_id)))

    (listed,) = json.loads(await command("list", "--json"))
    changed = await command("quota", "ana", "5G")
    shown = json.loads(await command("show", "ana", "--json"))
    unlimited = await command("quota", "ana", "none")
    await command("quota", "ana", "default")

    assert (listed["storage_bytes"], listed["quota_bytes"]) == (usage.used_bytes, usage.quota_bytes)
    assert "of 5.0 GiB" in changed
    assert (shown["storage_bytes"], shown["quota_bytes"]) == (usage.used_bytes, 5 * 1024**3)
    assert "no quota" in unlimited
    assert await rooms.media.usage.get(AccountId(int(ana.account_id))) == usage
    assert "storage" in await command("show", "ana")


@pytest.mark.parametrize("text", ["", "5X", "-1G", "0", "1e3G", "9999999T", "five"])
def test_a_quota_that_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a size"):
        parse_quota(text)


def test_sizes_are_read_and_shown_in_binary_units() -> None:
    assert [parse_quota(text) for text in ("512", "1.5k", "500M", "5GiB", "none", "Default")] == [
        *(512, 1536, 500 * 1024**2, 5 * 1024**3, 0, None)
    ]
    assert [format_size(size) for size in (0, 1023, 1536, 5 * 1024**3)] == [
        "0 B",
        "1023 B",
        "1.5 KiB",
        "5.0 GiB",
    ]
