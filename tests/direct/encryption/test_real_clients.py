"""Encrypted threads with the web app's own library (ts-mls) in Node, against a web process on real engines."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, cast

import pytest
from granian.constants import Interfaces
from granian.server.embed import Server
from httpx import AsyncClient

from tests.direct.support import befriend, query
from tests.support import PASSWORD, Person, join
from tests.web_process import free_port
from tintype.wiring import Rooms

pytestmark = pytest.mark.slow
CHECKOUT = Path(__file__).resolve().parents[3]
PEOPLE = ("ana", "bo", "cy")


@pytest.fixture
async def address(client: AsyncClient) -> AsyncIterator[str]:
    """Where the application answers over HTTP, served as in production but in this process."""
    app: Any = cast("Any", client)._transport.app  # the one that the client calls
    port = free_port()
    server = Server(app, address="127.0.0.1", port=port, interface=Interfaces.ASGINL, log_enabled=False)
    serving = asyncio.create_task(server.serve())
    while not await _answers(port):
        assert not serving.done(), serving.exception()
    yield f"http://127.0.0.1:{port}"
    server.stop()
    await serving


async def _answers(port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except ConnectionError:
        await asyncio.sleep(0.05)
        return False
    writer.close()
    return True


@pytest.fixture
async def people(client: AsyncClient) -> dict[str, Person]:
    """Three friends, and a second session of Ana's."""
    found = {name: await join(client, name) for name in PEOPLE}
    await befriend(*found.values())
    answer = await client.post("/api/v1/sessions", json={"username": "ana", "password": PASSWORD})
    assert answer.is_success, answer.text
    client.cookies.clear()
    token = answer.json()["token"]
    return {**found, "ana2": Person(client, found["ana"].account_id, "ana", token)}


async def run_scenario(name: str, address: str, people: dict[str, Person]) -> dict[str, Any]:
    """Let devices of these people do what the scenario says; returns the facts it reports."""
    named = {key: {"token": each.token, "account_id": each.account_id} for key, each in people.items()}
    npm = [sys.executable, str(CHECKOUT / "develop" / "npm.py"), "exec", "--offline", "--"]
    process = await asyncio.create_subprocess_exec(
        *npm, "node", "e2e/encryption/scenarios.mjs", name, address, json.dumps(named),
        cwd=CHECKOUT / "web",
        env=dict(os.environ),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    output, errors = await process.communicate()
    assert process.returncode == 0, errors.decode()
    return json.loads(output.splitlines()[-1])


async def assert_sealed_at_rest(rooms: Rooms, facts: dict[str, Any]) -> None:
    """No row of any table on any shard holds a plaintext, as text or in bytes."""
    for number in rooms.shards.map.owners:
        async with rooms.shards.shard(number).begin() as tx:
            connection = cast("Any", tx.connection)  # asyncpg ships without types
            tables = await connection.fetch(
                "SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema()"
            )
            for table in tables:
                for plain in facts["plain"]:
                    found = await connection.fetchval(
                        f'SELECT count(*) FROM "{table["table_name"]}" AS t'
                        " WHERE strpos(t::text, $1) > 0 OR strpos(t::text, $2) > 0",
                        plain,
                        plain.encode().hex(),
                    )
                    assert found == 0, (table["table_name"], plain)


@pytest.mark.parametrize(
    "scenario",
    [
        "twoPeople",
        "groupOfThree",
        "leaving",
        "concurrentCommits",
        "replay",
        "newDevice",
        "removedDevice",
        "lostKeys",
    ],
)
async def test_devices_read_what_they_should_and_the_server_nothing(
    rooms: Rooms, address: str, people: dict[str, Person], scenario: str
) -> None:
    facts = await run_scenario(scenario, address, people)

    await assert_sealed_at_rest(rooms, facts)


async def test_a_photo_is_encrypted_for_members_and_deleted_with_its_message(
    rooms: Rooms, address: str, people: dict[str, Person]
) -> None:
    facts = await run_scenario("photo", address, people)

    await assert_sealed_at_rest(rooms, facts)
    left = "SELECT FROM encrypted_attachments WHERE NOT is_deleted"
    assert await query(rooms, int(people["ana"].account_id), left) == []
    assert [
        each async for each in rooms.media.storage.list_objects(f"encrypted/{people['ana'].account_id}")
    ] == []
