import asyncio
import json
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.support import Person
from tintype.base.ids import AccountId
from tintype.cli.entry import build_app
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
    return result.output


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
async def test_an_operator_sees_how_a_feed_is_ranked(ana: Person, bo: Person) -> None:
    post = await ana.publish("#sea")
    await bo.call("PUT", f"/accounts/{ana.account_id}/follow")

    output = await command("why", "bo", room="feed")

    assert post["post_id"] in output.replace("\n", "")
