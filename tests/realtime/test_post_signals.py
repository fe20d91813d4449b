"""Signals of posts on the screen: counts and new comments, for those who watch and may see them."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from httpx import ASGITransport, AsyncClient

from tests.notifications.support import id_of
from tests.realtime.devices import PATIENCE_S, Device, connect
from tests.realtime.live_nats import LiveNats
from tests.support import Person, join
from tintype.base.ids import PostId
from tintype.client import LiveClient
from tintype.realtime.post_watchers import MAX_WATCHERS, WATCH_S, PostWatchers
from tintype.wiring import Rooms
from tintype.worker import Worker

pytestmark = pytest.mark.slow


async def watch(device: Device, *posts: str, **more: Any) -> Any:
    """Name posts, and return what the server answers."""
    await device.command("w", "watch", post_ids=list(posts), **more)
    while True:
        topic, content = await device.next()
        if topic.endswith("/replies"):
            return content


async def next_signal(device: Device, **wanted: Any) -> Any:
    """The first signal of a post that says this."""
    while True:
        topic, content = await device.next()
        if topic.endswith("/posts") and content | wanted == content:
            return content


async def hears_nothing(device: Device, rooms: Rooms) -> bool:
    """Whether nothing but the answer to a ping comes, after all that was to be told."""
    await rooms.realtime.post_signals.drain()
    await device.command("p", "ping")
    return (await device.next())[0].endswith("/replies")


async def test_who_watches_a_post_hears_of_likes_and_comments(
    live_worker: Worker, live_rooms: Rooms, live_nats: LiveNats, ana: Person, bo: Person
) -> None:
    post = await ana.publish("Harbour")
    async with connect(live_nats, ana) as device:
        assert await device.subscribe(f"/u/{ana.account_id}/replies")
        assert await device.subscribe(f"/u/{ana.account_id}/posts")
        answer = await watch(device, post["post_id"])
        assert answer["result"]["posts"] == [
            {"post_id": post["post_id"], "like_count": 0, "comment_count": 0, "comments": []}
        ]
        assert answer["result"]["for_s"] == WATCH_S

        await bo.call("PUT", f"/posts/{post['post_id']}/like")
        assert (await next_signal(device, like_count=1))["post_id"] == post["post_id"]

        comment = (
            await bo.call("POST", f"/posts/{post['post_id']}/comments", json={"text": "Lovely"})
        ).json()
        signal = await next_signal(device, comment_count=1)
        expected = [{"comment_id": comment["comment_id"], "account_id": bo.account_id, "username": "bo"}]
        assert (signal["comments"] or (await next_signal(device))["comments"]) == expected

        await bo.call("DELETE", f"/comments/{comment['comment_id']}")
        assert (await next_signal(device, comment_count=0))["comments"] == []
        await bo.call("DELETE", f"/posts/{post['post_id']}/like")
        await next_signal(device, like_count=0)


async def test_each_call_replaces_the_posts_of_its_device_alone(
    live_worker: Worker, live_rooms: Rooms, live_nats: LiveNats, ana: Person, bo: Person
) -> None:
    one, other, second = [await ana.publish(each) for each in ("1", "2", "3")]
    async with connect(live_nats, bo) as device:
        assert await device.subscribe(f"/u/{bo.account_id}/replies")
        await watch(device, one["post_id"], other["post_id"])
        await watch(device, other["post_id"])
        await watch(device, second["post_id"], device_id="laptop")

    watched = [PostId(int(each["post_id"])) for each in (one, other, second)]
    watchers = PostWatchers(live_rooms.redis, live_rooms.settings.namespace)
    assert {each: sorted(ids) for each, ids in (await watchers.find(watched)).items()} == {
        id_of(bo): sorted(watched[1:])
    }
    await watchers.replace(id_of(bo), "", [])
    assert await watchers.find(watched) == {id_of(bo): [watched[2]]}


async def test_nobody_hears_of_posts_that_they_may_not_see(
    live_worker: Worker,
    live_rooms: Rooms,
    live_nats: LiveNats,
    live_client: AsyncClient,
    ana: Person,
    bo: Person,
) -> None:
    cleo = await join(live_client, "cleo")
    post, private = await ana.publish("Harbour"), await cleo.publish("Mine")
    await cleo.call("PATCH", "/accounts/me", json={"is_private": True})
    async with connect(live_nats, bo) as device:
        assert await device.subscribe(f"/u/{bo.account_id}/replies")
        assert await device.subscribe(f"/u/{bo.account_id}/posts")
        answer = await watch(device, post["post_id"], private["post_id"], "17")
        assert [each["post_id"] for each in answer["result"]["posts"]] == [post["post_id"]]

        await cleo.call("PUT", f"/posts/{private['post_id']}/like")
        await cleo.call("PUT", f"/posts/{post['post_id']}/like")
        assert (await next_signal(device))["post_id"] == post["post_id"]

        # A comment of somebody who has blocked the watcher is counted and not named.
        await cleo.call("PUT", f"/blocks/{bo.account_id}")
        await cleo.call("POST", f"/posts/{post['post_id']}/comments", json={"text": "Hidden"})
        assert (await next_signal(device, comment_count=1))["comments"] == []

        await ana.call("PUT", f"/blocks/{bo.account_id}")
        await cleo.call("DELETE", f"/posts/{post['post_id']}/like")
        assert await hears_nothing(device, live_rooms)

        await ana.call("DELETE", f"/blocks/{bo.account_id}")
        await watch(device, post["post_id"])
        await ana.call("DELETE", f"/posts/{post['post_id']}")
        await live_rooms.realtime.post_signals.on_counts_changed(PostId(int(post["post_id"])))
        assert await hears_nothing(device, live_rooms)


async def test_many_changes_are_told_together(
    live_worker: Worker, live_rooms: Rooms, live_nats: LiveNats, ana: Person, bo: Person
) -> None:
    post = await ana.publish("Harbour")
    async with connect(live_nats, bo) as device:
        assert await device.subscribe(f"/u/{bo.account_id}/replies")
        assert await device.subscribe(f"/u/{bo.account_id}/posts")
        await watch(device, post["post_id"])
        for _ in range(100):
            await live_rooms.realtime.post_signals.on_counts_changed(PostId(int(post["post_id"])))
        await next_signal(device)
        assert await hears_nothing(device, live_rooms)


async def test_watching_is_bounded_and_expires(live_rooms: Rooms, ana: Person, bo: Person) -> None:
    post = PostId(int((await ana.publish("Harbour"))["post_id"]))
    namespace = live_rooms.settings.namespace
    watchers = PostWatchers(live_rooms.redis, namespace)
    for number in range(MAX_WATCHERS + 5):
        await watchers.replace(id_of(bo), f"device-{number}", [post])

    keys: Sequence[bytes | str] = await live_rooms.redis.keys(f"{namespace}:post-watch:*")
    assert await live_rooms.redis.zcard(f"{namespace}:post-watch:post:{post}") == MAX_WATCHERS
    assert all([0 < await live_rooms.redis.ttl(key) <= WATCH_S for key in keys])


async def test_more_than_a_screen_is_refused(live_worker: Worker, live_nats: LiveNats, ana: Person) -> None:
    async with connect(live_nats, ana) as device:
        assert await device.subscribe(f"/u/{ana.account_id}/replies")
        answer = await watch(device, *(str(each) for each in range(1, 22)))
        assert answer["error"]["code"] == "command_invalid"


async def test_the_python_client_watches(
    live_worker: Worker, live_nats: LiveNats, ana: Person, bo: Person
) -> None:
    post = await ana.publish("Harbour")
    broker = ("127.0.0.1", live_nats.ports.mqtt_port)
    transport = ana.client._transport
    assert isinstance(transport, ASGITransport)
    async with LiveClient("http://test", bo.token, broker=broker, transport=transport) as live:
        async with asyncio.timeout(PATIENCE_S):
            assert [each["post_id"] for each in await live.watch([post["post_id"]])] == [post["post_id"]]
            await ana.call("PUT", f"/posts/{post['post_id']}/like")
            async for leaf, signal in live.signals():
                if leaf == "posts" and signal["like_count"] == 1:
                    break
