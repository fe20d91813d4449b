"""A whole Tintype with live connections, as `tintype up` starts it, while its processes are killed."""

import asyncio
import socket

import pytest
from httpx import AsyncClient

from tests.living_stack import LivingStack, open_living_stack
from tests.support import Person, eventually, join
from tintype.client import LiveClient, LiveUpdate

pytestmark = [
    pytest.mark.slow,
    # paho leaves the socket of a refused handshake to the garbage collector.
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),
]
FANS = 9


async def test_every_update_arrives_once_while_nats_the_worker_and_the_web_are_killed() -> None:
    async with open_living_stack(realtime="true") as stack, AsyncClient(base_url=stack.address) as http:
        ana = await join(http, "ana")
        fans = [await join(http, f"fan{number}") for number in range(FANS)]
        async with LiveClient(stack.address, ana.token, since=0) as live:
            heard: list[LiveUpdate] = []
            listening = asyncio.create_task(_collect(live, heard))
            await live.wait_connected()
            for number, fan in enumerate(fans):
                if number % 3 == 0:
                    await stack.kill_and_wait(("nats", "worker", "web")[number // 3])
                    await stack.wait_ready()
                await _follow(fan, ana)
            await eventually(lambda: _is_told(ana, heard), what="all follows are told")
            listening.cancel()

        logged = (await ana.call("GET", "/sync", params={"since": 0})).json()
        assert [each.seq for each in heard] == list(range(1, logged["seq"] + 1))
        assert [each.payload for each in heard] == [each["payload"] for each in logged["updates"]]
        assert stack.crashes() == []
        assert _refuses_plain_mqtt(stack)


async def _collect(live: LiveClient, heard: list[LiveUpdate]) -> None:
    async for update in live.updates():
        heard.append(update)  # noqa: PERF401 - as they come


async def _follow(fan: Person, ana: Person) -> None:
    async def is_done() -> bool:
        return (await fan.call("PUT", f"/accounts/{ana.account_id}/follow")).is_success

    await eventually(is_done, what=f"{fan.username} follows ana")


async def _is_told(ana: Person, heard: list[LiveUpdate]) -> bool:
    answer = await ana.call("GET", "/notifications")
    (follows,) = answer.json()["notifications"] or [{"actor_count": 0}]
    log = (await ana.call("GET", "/sync", params={"since": 0})).json()
    return follows["actor_count"] == FANS and len(heard) == log["seq"] > 0


def _refuses_plain_mqtt(stack: LivingStack) -> bool:
    """Nobody but this machine reaches the listener for MQTT, and without credentials nobody gets in."""
    configuration = (stack.home / "nats" / "nats.conf").read_text()
    listen = next(line for line in configuration.partition("mqtt {")[2].splitlines() if "listen" in line)
    host, port = listen.split('"')[1].split(":")
    assert host == "127.0.0.1"
    with socket.create_connection((host, int(port)), timeout=30) as stranger:
        stranger.sendall(bytes.fromhex("101000044d5154540402003c000474657374"))
        return stranger.recv(4) == bytes.fromhex("20020005")
