"""Two thousand stalled connections: everybody else is served, and the stalled ones are ended.

How much slower the others are is measured by `./tintype bench connections`.
"""

import asyncio

import httpx
import pytest

from bench.stalled_connections import StalledConnections
from tests.support import PASSWORD, eventually
from tests.web_process import open_web
from tintype.base.settings import Settings
from tintype.wiring import Rooms

COUNT = 2_000
pytestmark = pytest.mark.slow


@pytest.mark.parametrize("addresses", [1, 40])
async def test_others_are_served_while_two_thousand_connections_stall(
    settings: Settings, opened_rooms: Rooms, addresses: int
) -> None:
    assert opened_rooms
    with open_web(settings, rate_limits="all=off") as web:
        async with httpx.AsyncClient(base_url=web.address, timeout=60) as client:
            joined = await client.post(
                "/api/v1/accounts", json={"username": f"amid.{addresses}", "password": PASSWORD}
            )
            token = joined.raise_for_status().json()["token"]
            client.cookies.clear()
            client.headers["Authorization"] = f"Bearer {token}"
            with StalledConnections(web.port, COUNT, addresses=addresses) as stalled:
                await asyncio.to_thread(stalled.open)
                statuses = [await _use_the_site(client, number) for number in range(300)]

                async def are_ended() -> bool:
                    return stalled.count_ended() == COUNT

                await eventually(are_ended, what="all stalled connections are ended", patience_s=120)
            statuses += [await _use_the_site(client, number) for number in range(20)]

    assert set(statuses) == {200, 201}


async def _use_the_site(client: httpx.AsyncClient, number: int) -> int:
    """Read, or write, on connections that stay open and on new ones."""
    headers = {"Connection": "close"} if number % 3 == 0 else {}
    if number % 10 == 0:
        body = {"name": f"Pier {number}", "latitude": 1, "longitude": number / 10}
        return (await client.post("/api/v1/places", json=body, headers=headers)).status_code
    return (await client.get("/api/v1/feed", headers=headers)).status_code
