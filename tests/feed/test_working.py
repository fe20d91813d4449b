"""The feed's jobs in a real worker, through outbox and JetStream."""

import pytest
from httpx import AsyncClient

from tests.support import Person, eventually, join, on_server
from tintype.feed import fan_out
from tintype.wiring import Rooms


async def count_parts(rooms: Rooms) -> int:
    """How many parts of fan-outs have been enqueued."""
    counted = 0
    for dsn in rooms.settings.postgres_admin:
        rows = await on_server(dsn, "SELECT count(*) AS n FROM common.outbox WHERE event = 'fan_out_due'")
        counted += rows[0]["n"]
    return counted


@pytest.mark.usefixtures("working")
async def test_every_part_of_a_fan_out_is_handled(
    rooms: Rooms, client: AsyncClient, ana: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fan_out, "PART_SIZE", 1)
    followers = [await join(client, name) for name in ("bo", "cy", "dee", "eli")]
    for each in followers:
        assert (await each.call("PUT", f"/accounts/{ana.account_id}/follow")).status_code < 300
        await each.feed()

    post = await ana.publish()

    async def is_everywhere() -> bool:
        feeds = [await each.feed() for each in followers]
        return all([shown["post_id"] for shown in feed["posts"]] == [post["post_id"]] for feed in feeds)

    async def is_split() -> bool:
        return await count_parts(rooms) == len(followers)

    await eventually(is_split, what="the fan-out is split into parts")
    await eventually(is_everywhere, what="the post is in every follower's feed")
