"""Live connections through a web process: MQTT over WebSocket at `/mqtt`, for pages of this site alone."""

import asyncio
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.media.caddy import behind_caddy
from tests.media.nginx import behind_nginx
from tests.notifications.support import id_of
from tests.realtime.devices import connect, is_refused
from tests.realtime.live_nats import LiveNats
from tests.support import Person
from tests.web_process import WebProcess, open_web
from tintype.base.secret_key import secret_key
from tintype.client import LiveClient
from tintype.realtime import CalloutMissing
from tintype.realtime.probe import Probe
from tintype.sync import Update
from tintype.wiring import Rooms
from tintype.worker import Worker

pytestmark = [
    pytest.mark.slow,
    # paho leaves the socket of a refused handshake to the garbage collector.
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),
]


@pytest.fixture(scope="module")
def web(live_nats: LiveNats) -> Iterator[WebProcess]:
    """A web process that forwards live connections, and soon cuts what is idle."""
    live = live_nats.settings
    chosen = {"realtime": "true", "nats_system": live.nats_system, "mqtt_upstream": live.mqtt_upstream}
    with open_web(live, **chosen, http_idle_s=1, http_stall_s=1, connections_per_address=16) as process:
        yield process


def over_websocket(web: WebProcess) -> dict[str, Any]:
    return {"port": web.port, "transport": "websockets", "websocket_path": "/mqtt", "timeout": 10}


async def test_a_client_over_websocket_hears_updates_commands_and_is_not_idle(
    web: WebProcess, live_worker: Worker, live_rooms: Rooms, ana: Person
) -> None:
    async with LiveClient(web.address, ana.token, since=0) as live:
        await live.wait_connected()
        for _ in range(3):  # meanwhile connections without a request are cut, one after another
            with web.connect() as idle:
                assert await asyncio.to_thread(idle.recv, 1) == b""
        large = "x" * 15_000
        await live_rooms.sync.append([Update(id_of(ana), "a", "test", {"text": large})])

        async with asyncio.timeout(60):
            assert (await anext(live.updates())).payload == {"text": large}
            assert await live.command("ping") == {}
        live_rooms.realtime.commands.register("test.echo", lambda command: _echo(command.payload))
        async with asyncio.timeout(60):
            assert await live.command("test.echo", {"text": large}) == {"text": large}


async def _echo(payload: dict[str, object]) -> dict[str, object]:
    return payload


async def test_pages_of_other_sites_other_paths_and_other_protocols_get_no_connection(
    web: WebProcess, live_worker: Worker, live_nats: LiveNats, ana: Person
) -> None:
    options = over_websocket(web)
    own = {"Origin": web.address}

    async with connect(live_nats, ana, **options, websocket_headers=own) as device:
        assert await device.subscribe(f"/u/{ana.account_id}/#")
        assert not await device.subscribe("/u/+/updates")
    assert await is_refused(live_nats, ana, **options, websocket_headers={"Origin": "https://evil.example"})
    assert await is_refused(live_nats, ana, **(options | {"websocket_path": "/elsewhere"}))
    assert await is_refused(live_nats, ana, **options, password="wrong")


async def test_an_address_has_so_many_live_connections_and_no_more(
    web: WebProcess, live_worker: Worker, live_nats: LiveNats, ana: Person
) -> None:
    options = over_websocket(web)
    async with AsyncExitStack() as held:
        for number in range(16):
            await held.enter_async_context(connect(live_nats, ana, device=f"d{number}", **options))
        assert await is_refused(live_nats, ana, device="one_more", **options)


@pytest.mark.parametrize("behind", [behind_nginx, behind_caddy])
async def test_live_connections_pass_the_proxies_that_we_ship_configurations_for(
    web: WebProcess, live_worker: Worker, ana: Person, tmp_path: Path, behind: Any
) -> None:
    async with behind(web.port, tmp_path) as proxy, LiveClient(str(proxy.base_url), ana.token) as live:
        async with asyncio.timeout(60):
            assert await live.command("ping") == {}


async def test_a_nats_server_that_does_not_ask_us_is_refused(rooms: Rooms, live_nats: LiveNats) -> None:
    ours = Probe(secret_key(rooms.settings))
    with pytest.raises(CalloutMissing):
        await ours.run(rooms.settings)  # the engine of the tests has no callout

    with pytest.raises(CalloutMissing):  # nobody answers for this installation
        await Probe(b"another key").run(live_nats.settings)
