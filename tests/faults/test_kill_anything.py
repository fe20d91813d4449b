"""Kills every part of a running Tintype while people use it; then compares what was promised with what is there."""

import asyncio
import json
import random
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import nats
import pytest
from httpx import AsyncClient, HTTPError, Response

from tests.living_stack import LivingStack
from tests.support import PASSWORD, eventually, photo
from tintype.base.nats import NatsNames
from tintype.graph import FollowChanged

PEOPLE = 6
PARTS = [
    "postgres-1",
    "redis",
    "worker",
    "nats",
    "web",
    "postgres-2",
    "supervisor",
    "worker",
    "postgres-1",
    "web",
]
PAUSE_S = 1.2
Pair = tuple[str, str]


@dataclass
class Promises:
    """What the API acknowledged. After an answer that never came, either outcome is right until the next one does."""

    follows: dict[Pair, bool | None] = field(default_factory=dict[Pair, bool | None])
    posts: set[str] = field(default_factory=set[str])
    scheduled: set[str] = field(default_factory=set[str])
    """Captions of posts whose time comes while things are killed."""
    answers: Counter[int] = field(default_factory=Counter[int])


@pytest.mark.slow
@pytest.mark.timeout(600)
async def test_whatever_is_killed_no_promise_is_broken(living_stack: LivingStack) -> None:
    stack = living_stack
    promises = Promises()
    people = [await _join(stack, f"person_{number}") for number in range(PEOPLE)]
    for number, person in enumerate(people):
        await _schedule(stack, person, number, promises)
    stop = asyncio.Event()
    users = [asyncio.create_task(_use(stack, people, me, promises, stop)) for me in range(PEOPLE)]
    chance = random.Random(7)  # noqa: S311 - a schedule, not a secret
    for part in PARTS:
        await asyncio.sleep(PAUSE_S * chance.uniform(0.5, 1.5))
        await stack.kill(part)
    await asyncio.sleep(PAUSE_S)
    stop.set()
    await asyncio.gather(*users)
    await stack.wait_ready()

    assert promises.answers[204] > 50
    assert stack.crashes() == []
    assert promises.answers[500] == 0
    await _have_been_published(stack, promises)
    await _has_settled(stack)
    await _check(stack, promises)

    await _lose_the_stream(stack)
    await _has_settled(stack)
    await _check(stack, promises)


async def _use(
    stack: LivingStack, people: list[dict[str, str]], me: int, promises: Promises, stop: asyncio.Event
) -> None:
    """Follow, unfollow and post at random; an answer that does not come leaves the outcome open."""
    chance = random.Random(me)  # noqa: S311 - a schedule, not a secret
    headers = {"Authorization": f"Bearer {people[me]['token']}"}
    async with AsyncClient(base_url=f"{stack.address}/api/v1", timeout=10, headers=headers) as client:
        while not stop.is_set():
            if chance.random() < 0.1:
                await _post(client, promises)
            else:
                other = people[(me + chance.randrange(1, PEOPLE)) % PEOPLE]["account_id"]
                pair, wants = (people[me]["account_id"], other), chance.random() < 0.6
                promises.follows[pair] = None
                answer = await _send(
                    client, "PUT" if wants else "DELETE", f"/accounts/{other}/follow", promises
                )
                if answer is not None and answer.status_code == 204:
                    promises.follows[pair] = wants
            await asyncio.sleep(0.02)


async def _post(client: AsyncClient, promises: Promises) -> None:
    answer = await _send(client, "POST", "/media/upload", promises, files={"file": ("a.jpg", photo(64, 64))})
    if answer is None or answer.status_code != 201:
        return
    body = {"media_ids": [answer.json()["media_id"]]}
    answer = await _send(client, "POST", "/posts", promises, json=body)
    if answer is not None and answer.status_code == 201:
        promises.posts.add(answer.json()["post_id"])


async def _schedule(stack: LivingStack, person: dict[str, str], number: int, promises: Promises) -> None:
    """Schedule some posts of a person, for moments at which something is being killed."""
    headers = {"Authorization": f"Bearer {person['token']}"}
    async with AsyncClient(base_url=f"{stack.address}/api/v1", timeout=20, headers=headers) as client:
        for each in range(2):
            sent = await client.post("/media/upload", files={"file": ("a.jpg", photo(64, 64))})
            publish_at = datetime.now(UTC) + timedelta(seconds=2 + number + 4 * each)
            caption = f"scheduled {number} {each}"
            body = {
                "media_ids": [sent.json()["media_id"]],
                "caption": caption,
                "publish_at": publish_at.isoformat(),
            }
            answer = await client.post("/scheduled-posts", json=body)
            assert answer.status_code == 201, answer.text
            promises.scheduled.add(caption)


async def _have_been_published(stack: LivingStack, promises: Promises) -> None:
    """Every scheduled post is a post, and is one post."""

    async def are_published() -> bool:
        return not await stack.rows("SELECT id FROM {schema}.scheduled_posts")

    await eventually(are_published, what="no scheduled post is left", patience_s=120)
    rows = await stack.rows("SELECT caption FROM {schema}.posts WHERE caption LIKE 'scheduled %'")
    assert sorted(row["caption"] for row in rows) == sorted(promises.scheduled)


async def _send(
    client: AsyncClient, method: str, path: str, promises: Promises, **body: object
) -> Response | None:
    try:
        answer = await client.request(method, path, **body)  # pyright: ignore[reportArgumentType] - passed on as it is
    except HTTPError:
        return None  # the web was killed under us
    promises.answers[answer.status_code] += 1
    return answer


async def _has_settled(stack: LivingStack) -> None:
    """Every event was relayed, and every follower's shard shows the newest change."""

    async def is_settled() -> bool:
        waiting = await stack.rows("SELECT 1 WHERE common.count_waiting_events() > 0")
        return not waiting and await _newest_changes(stack) == await _mirrored_changes(stack)

    await eventually(is_settled, what="every committed event was handled", patience_s=90)


async def _newest_changes(stack: LivingStack) -> dict[Pair, int]:
    """The last change of each pair, by the committed outbox rows themselves."""
    newest: dict[Pair, int] = {}
    for row in await stack.rows("SELECT payload FROM common.outbox WHERE event = 'follow_changed'"):
        change = FollowChanged.decode(row["payload"])
        pair = (str(change.follower_id), str(change.followee_id))
        newest[pair] = max(newest.get(pair, 0), change.change_id)
    return newest


async def _mirrored_changes(stack: LivingStack) -> dict[Pair, int]:
    rows = await stack.rows("SELECT account_id, follower_id, change_id FROM {schema}.followers")
    return {(str(row["follower_id"]), str(row["account_id"])): row["change_id"] for row in rows}


async def _check(stack: LivingStack, promises: Promises) -> None:
    following = {
        (str(a), str(b))
        for a, b in await stack.rows("SELECT account_id, followee_id FROM {schema}.following")
    }
    mirrored = {
        (str(a), str(b))
        for a, b in await stack.rows("SELECT follower_id, account_id FROM {schema}.followers WHERE is_active")
    }
    assert following == mirrored
    for pair, wanted in promises.follows.items():
        assert wanted is None or wanted == (pair in following)
    counts = "SELECT id, follower_count, following_count, post_count FROM {schema}.accounts"
    posts = await stack.rows("SELECT id, author_id FROM {schema}.posts")
    for row in await stack.rows(counts):
        me = str(row["id"])
        assert row["following_count"] == sum(pair[0] == me for pair in following)
        assert row["follower_count"] == sum(pair[1] == me for pair in following)
        assert row["post_count"] == sum(post["author_id"] == row["id"] for post in posts)
    ids = [str(post["id"]) for post in posts]
    assert promises.posts <= set(ids)
    assert len(ids) == len(set(ids))


async def _lose_the_stream(stack: LivingStack) -> None:
    """Everything JetStream holds is gone: the outbox sends all of it again, and handlers see it twice."""
    addresses = json.loads((stack.home / "secrets" / "addresses.json").read_text())
    bus = await nats.connect(addresses["nats"])
    await bus.jetstream().delete_stream(NatsNames("tintype").events_stream)
    await bus.close()
    await stack.kill_and_wait("worker")


async def _join(stack: LivingStack, username: str) -> dict[str, str]:
    async with AsyncClient(base_url=f"{stack.address}/api/v1", timeout=20) as client:
        answer = await client.post("/accounts", json={"username": username, "password": PASSWORD})
        assert answer.status_code == 201, answer.text
        body = answer.json()
        return {"account_id": body["account"]["account_id"], "token": body["token"]}
