"""Likes: one per person, counted with the row, indexed with the liker, and buffered on hot posts."""

import asyncio
import random
from contextvars import Context
from typing import Any

import pytest
from httpx import AsyncClient
from redis.exceptions import ConnectionError as RedisConnectionError

from shardwright.routing import Query, Shard
from tests.posts.people import block, crowd, id_of, run_sql
from tests.support import Person
from tintype.base.counter_reconciler import CounterReconciler
from tintype.base.ids import AccountId, PostId
from tintype.posts import PostLiked
from tintype.redis.hot_counters import HotCounters
from tintype.wiring import Rooms


async def count_of(viewer: Person, post_id: str) -> int:
    return (await viewer.call("GET", f"/posts/{post_id}")).json()["like_count"]


async def rows_of(rooms: Rooms, post_id: str) -> tuple[int, int]:
    """How many like rows a post has, and the stored count."""
    found = await run_sql(
        rooms,
        int(post_id),
        f"SELECT (SELECT count(*) FROM likes WHERE post_id = p.id) AS rows, like_count FROM posts AS p "
        f"WHERE id = {post_id}",
    )
    return found[0]["rows"], found[0]["like_count"]


async def own_likes(person: Person) -> list[str]:
    page = (await person.call("GET", "/accounts/me/likes")).json()
    return [each["post_id"] for each in page["posts"]]


@pytest.fixture
def always_buffered(rooms: Rooms, monkeypatch: pytest.MonkeyPatch) -> HotCounters:
    """Counts are buffered from the first like on."""
    hot = rooms.posts._dependencies.like_counters
    monkeypatch.setattr(hot, "_threshold", 1)
    return hot


async def test_a_like_shows_at_once_on_the_post_and_in_the_likers_list(ana: Person, bo: Person) -> None:
    first, second = await ana.publish(), await ana.publish()
    for post in (first, second, first):
        await bo.call("PUT", f"/posts/{post['post_id']}/like")

    assert await own_likes(bo) == [second["post_id"], first["post_id"]]
    likers = (await ana.call("GET", f"/posts/{first['post_id']}/likes")).json()
    assert [each["username"] for each in likers["people"]] == ["bo"]

    await bo.call("DELETE", f"/posts/{second['post_id']}/like")
    assert await own_likes(bo) == [first["post_id"]]
    assert await count_of(bo, second["post_id"]) == 0


async def test_who_liked_is_paged_with_relations_and_without_gaps(
    rooms: Rooms, client: AsyncClient, ana: Person
) -> None:
    post = await ana.publish()
    people = await crowd(client, 6)
    for person in people:
        await person.call("PUT", f"/posts/{post['post_id']}/like")
    await people[0].call("PUT", f"/accounts/{people[1].account_id}/follow")
    await block(rooms, people[3], people[0])

    seen: list[dict[str, Any]] = []
    cursor = None
    while True:
        params = {"limit": 2, **({"cursor": cursor} if cursor else {})}
        page = (await people[0].call("GET", f"/posts/{post['post_id']}/likes", params=params)).json()
        seen += page["people"]
        cursor = page["next_cursor"]
        if cursor is None:
            break
        assert len(page["people"]) == 2

    assert [each["username"] for each in seen] == ["person5", "person4", "person2", "person1", "person0"]
    assert [each["relation"]["viewer_follows"] for each in seen] == [False, False, False, True, False]


async def test_only_the_author_sees_a_hidden_like_count(ana: Person, bo: Person) -> None:
    post = await ana.publish()
    await bo.call("PUT", f"/posts/{post['post_id']}/like")
    await ana.call("PATCH", f"/posts/{post['post_id']}", json={"hides_like_count": True})

    assert await count_of(bo, post["post_id"]) is None
    assert await count_of(ana, post["post_id"]) == 1
    assert (await bo.call("GET", "/profiles/ana")).json()["posts"][0]["like_count"] is None


@pytest.mark.slow
@pytest.mark.parametrize("is_hot", [False, True])
async def test_likes_and_unlikes_of_fifty_people_at_once_are_counted_right(
    rooms: Rooms, client: AsyncClient, ana: Person, monkeypatch: pytest.MonkeyPatch, *, is_hot: bool
) -> None:
    if is_hot:
        monkeypatch.setattr(rooms.posts._dependencies.like_counters, "_threshold", 30)
    post = await ana.publish()
    path = f"/posts/{post['post_id']}/like"
    people = await crowd(client, 50)
    chance = random.Random(4)  # noqa: S311 - a fixed seed, not a secret

    async def like_and_unlike(person: Person) -> None:
        methods = chance.choices(["PUT", "DELETE"], k=4)
        answers = await asyncio.gather(*(person.call(method, path) for method in methods))
        assert {answer.status_code for answer in answers} == {204}

    await asyncio.gather(*(like_and_unlike(person) for person in people), rooms.posts.flush_likes())

    rows, _ = await rows_of(rooms, post["post_id"])
    assert await count_of(ana, post["post_id"]) == rows
    await rooms.posts.flush_likes()
    await rooms.posts.flush_likes()
    assert await rows_of(rooms, post["post_id"]) == (rows, rows)
    assert await count_of(ana, post["post_id"]) == rows
    likers = await rooms.posts.page_likers(
        PostId(int(post["post_id"])), viewer=None, before=2**63 - 1, limit=50
    )
    liking = {person.account_id for person in people if await own_likes(person)}
    assert liking == {str(seen.account.id) for seen in likers.items}


async def test_a_liked_post_is_still_read_from_the_cache_with_its_new_count(
    client: AsyncClient, ana: Person, bo: Person, reads: list[tuple[str, int]]
) -> None:
    post = await ana.publish()
    assert (await client.get(f"/api/v1/posts/{post['post_id']}")).json()["like_count"] == 0

    await bo.call("PUT", f"/posts/{post['post_id']}/like")
    reads.clear()

    assert (await client.get(f"/api/v1/posts/{post['post_id']}")).json()["like_count"] == 1
    assert reads == []


async def test_events_of_likes_may_arrive_twice_and_in_any_order(
    rooms: Rooms, ana: Person, bo: Person
) -> None:
    post_id = PostId(int((await ana.publish())["post_id"]))
    changes = [
        PostLiked(post_id, id_of(ana), id_of(bo), number, is_liked=number % 2 == 1) for number in range(1, 6)
    ]
    chance = random.Random(2)  # noqa: S311 - a fixed seed, not a secret
    handler = next(each for each in rooms.posts.handlers() if each.event is PostLiked)

    assert handler.run_many is not None

    for size in (1, 3, 10):
        shuffled = chance.sample(changes * 2, 10)
        for start in range(0, len(shuffled), size):
            await handler.run_many(shuffled[start : start + size])

    assert await rooms.posts.which_liked(id_of(bo), [post_id]) == {post_id}


async def test_the_handler_writes_only_likes_that_are_not_indexed_yet(
    rooms: Rooms, client: AsyncClient, ana: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    post_id = PostId(int((await ana.publish())["post_id"]))
    people = await crowd(client, 4)

    async def die(*_: object) -> None:
        return

    for number, person in enumerate(people):
        with monkeypatch.context() as patch:
            if number % 2:  # its process dies between the commit and the index
                patch.setattr(rooms.posts._likes._index, "try_write", die)
            await person.call("PUT", f"/posts/{post_id}/like")
    rows = await run_sql(rooms, post_id, "SELECT payload FROM common.outbox WHERE event = 'post_liked'")
    events = [PostLiked.decode(row["payload"]) for row in rows]
    written: list[int] = []
    real = Shard.execute

    async def execute(shard: Shard, query: Query, /, **params: Any) -> int:
        written.extend(params.get("account_ids", ()))
        return await real(shard, query, **params)

    monkeypatch.setattr(Shard, "execute", execute)
    handler = next(each for each in rooms.posts.handlers() if each.event is PostLiked)
    assert handler.run_many is not None
    await handler.run_many([*events, *events])
    assert sorted(written) == sorted(id_of(each) for each in people[1::2])
    assert [await own_likes(each) for each in people] == [[str(post_id)]] * 4

    written.clear()
    await handler.run_many(events)
    assert written == []


async def test_a_batch_with_the_like_of_somebody_erased_indexes_the_others(
    rooms: Rooms, ana: Person, bo: Person
) -> None:
    post_id = PostId(int((await ana.publish())["post_id"]))
    gone = AccountId(id_of(bo) + (1 << 23))  # of the same shard as bo, and never assigned
    handler = next(each for each in rooms.posts.handlers() if each.event is PostLiked)
    assert handler.run_many is not None

    await handler.run_many(
        [PostLiked(post_id, id_of(ana), each, 7, is_liked=True) for each in (gone, id_of(bo))]
    )

    assert await rooms.posts.which_liked(id_of(bo), [post_id]) == {post_id}
    assert await rooms.posts.which_liked(gone, [post_id]) == set()


async def test_nobody_likes_what_they_may_not_see_and_a_late_look_at_the_cache_does_not_help(
    rooms: Rooms, ana: Person, bo: Person
) -> None:
    post = await ana.publish()
    path = f"/posts/{post['post_id']}/like"
    assert (await bo.call("PUT", path)).status_code == 204
    # The cached account still says that it is public.
    await run_sql(rooms, id_of(ana), f"UPDATE accounts SET is_private = true WHERE id = {ana.account_id}")

    answers = [await bo.call(method, path) for method in ("PUT", "DELETE")]

    assert [(each.status_code, each.json()["code"]) for each in answers] == [(404, "post_not_found")] * 2
    assert (await bo.call("PUT", "/posts/141402734592003/like")).status_code == 404
    assert await rows_of(rooms, post["post_id"]) == (1, 1)


async def test_change_ids_of_one_person_grow_with_time(rooms: Rooms, ana: Person, bo: Person) -> None:
    post = await ana.publish()
    path = f"/posts/{post['post_id']}/like"
    await asyncio.gather(*(bo.call(method, path) for method in ["PUT", "DELETE"] * 10))

    rows = await run_sql(
        rooms, int(post["post_id"]), "SELECT payload FROM common.outbox WHERE event = 'post_liked'"
    )
    changes = sorted((PostLiked.decode(row["payload"]) for row in rows), key=lambda each: each.change_id)

    assert [each.is_liked for each in changes] == [number % 2 == 0 for number in range(len(changes))]
    is_liked = (await bo.call("GET", f"/posts/{post['post_id']}")).json()["viewer_has_liked"]
    assert is_liked == changes[-1].is_liked


async def test_likes_of_a_hot_post_are_buffered_in_redis_and_show_at_once(
    rooms: Rooms, client: AsyncClient, ana: Person, always_buffered: HotCounters
) -> None:
    post = await ana.publish()
    assert await count_of(ana, post["post_id"]) == 0
    for person in await crowd(client, 3):
        await person.call("PUT", f"/posts/{post['post_id']}/like")

    assert await rows_of(rooms, post["post_id"]) == (3, 0)
    assert await count_of(ana, post["post_id"]) == 3

    await rooms.posts.flush_likes()

    assert await rows_of(rooms, post["post_id"]) == (3, 3)
    assert await count_of(ana, post["post_id"]) == 3


async def test_a_like_of_a_hot_post_does_not_wait_for_the_posts_row(
    rooms: Rooms, ana: Person, bo: Person, always_buffered: HotCounters
) -> None:
    post = await ana.publish()

    async with rooms.shards.owner(int(post["post_id"])).begin() as tx:
        await tx.connection.execute(f"UPDATE posts SET like_count = like_count WHERE id = {post['post_id']}")
        async with asyncio.timeout(5):
            liking = bo.call("PUT", f"/posts/{post['post_id']}/like")
            answer = await asyncio.create_task(liking, context=Context())  # not by who holds the row

    assert answer.status_code == 204


async def test_an_interrupted_flush_is_finished_by_the_next_and_counts_once(
    rooms: Rooms, ana: Person, bo: Person, always_buffered: HotCounters
) -> None:
    post = await ana.publish()
    post_id = post["post_id"]
    await bo.call("PUT", f"/posts/{post_id}/like")

    async def die(batch: int, deltas: Any) -> list[int]:
        await rooms.posts._likes.fold(batch, deltas)
        raise RuntimeError("killed after the commit")

    with pytest.raises(RuntimeError):
        await always_buffered.flush(die)
    assert await rows_of(rooms, post_id) == (1, 1)
    assert await count_of(bo, post_id) == 1  # the row holds the batch: it is not added again
    await ana.call("PUT", f"/posts/{post_id}/like")
    assert await count_of(bo, post_id) == 2

    await rooms.posts.flush_likes()
    assert await rows_of(rooms, post_id) == (2, 1)
    await rooms.posts.flush_likes()
    assert await rows_of(rooms, post_id) == (2, 2)
    assert await count_of(bo, post_id) == 2


async def test_an_unavailable_shard_gets_its_counts_later(
    rooms: Rooms,
    client: AsyncClient,
    ana: Person,
    always_buffered: HotCounters,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    home = rooms.shards.shard_of(id_of(ana))
    bo = next(each for each in await crowd(client, 12) if rooms.shards.shard_of(id_of(each)) != home)
    mine, theirs = await ana.publish(), await bo.publish()
    for post in (mine, theirs):
        await bo.call("PUT", f"/posts/{post['post_id']}/like")
    away = rooms.shards.shard_of(int(mine["post_id"]))
    real = rooms.shards.shard

    def shard(number: int) -> Any:
        if number == away:
            raise OSError("away")
        return real(number)

    with monkeypatch.context() as patch:
        patch.setattr(rooms.shards, "shard", shard)
        await rooms.posts.flush_likes()

    assert await rows_of(rooms, theirs["post_id"]) == (1, 1)
    assert await rows_of(rooms, mine["post_id"]) == (1, 0)
    assert await count_of(bo, mine["post_id"]) == 1
    await rooms.posts.flush_likes()
    assert await rows_of(rooms, mine["post_id"]) == (1, 1)


@pytest.mark.slow
async def test_losing_redis_makes_drift_that_is_found_and_repaired(
    rooms: Rooms, ana: Person, bo: Person, always_buffered: HotCounters
) -> None:
    post = await ana.publish()
    await bo.call("PUT", f"/posts/{post['post_id']}/like")
    reconciler = CounterReconciler(rooms.shards, rooms.reconciled_counters())

    buffered = await reconciler.run(fix=True)
    assert [(each.drifted, each.unsettled) for each in buffered if each.counter == "likes"] == [(0, 1)]
    await rooms.redis.flushdb()
    assert await count_of(bo, post["post_id"]) == 0

    found = await reconciler.run(fix=False)
    fixed = await reconciler.run(fix=True)
    after = await reconciler.run(fix=False)

    assert [each.drifted for each in found if each.counter == "likes"] == [1]
    assert [each.repaired for each in fixed if each.counter == "likes"] == [1]
    assert [each.drifted for each in after] == [0] * len(after)
    assert await count_of(bo, post["post_id"]) == 1


async def test_the_comment_count_changes_with_its_transaction_and_shows_at_once(
    rooms: Rooms, client: AsyncClient, ana: Person
) -> None:
    post_id = PostId(int((await ana.publish())["post_id"]))
    path = f"/api/v1/posts/{post_id}"
    assert (await client.get(path)).json()["comment_count"] == 0

    async with rooms.shards.owner(post_id).begin() as tx:
        await rooms.posts.change_comment_count(tx, post_id, 2)
    assert (await client.get(path)).json()["comment_count"] == 2

    with pytest.raises(RuntimeError):
        async with rooms.shards.owner(post_id).begin() as tx:
            await rooms.posts.change_comment_count(tx, post_id, 5)
            raise RuntimeError
    assert (await client.get(path)).json()["comment_count"] == 2


async def test_every_count_is_compared_with_its_rows(rooms: Rooms, ana: Person, bo: Person) -> None:
    await ana.publish()
    await bo.call("PUT", f"/accounts/{ana.account_id}/follow")
    for person in (ana, bo):
        await run_sql(
            rooms,
            id_of(person),
            f"UPDATE accounts SET post_count = 7, follower_count = 8, following_count = 9 "
            f"WHERE id = {person.account_id}",
        )
        await rooms.accounts.invalidate(id_of(person))
    seen: list[tuple[str, int, int]] = []

    def note(tally: str, done: int, total: int) -> None:
        seen.append((tally, done, total))

    reports = await CounterReconciler(rooms.shards, rooms.reconciled_counters()).run(fix=True, progress=note)

    assert {each.counter: each.repaired for each in reports} == {
        "likes": 0,
        "posts": 2,
        "comments": 0,
        "followers": 2,
        "following": 2,
        "storage": 0,
    }
    assert ("followers", 8, 8) in seen
    profile = (await bo.call("GET", "/profiles/ana")).json()
    assert (profile["post_count"], profile["follower_count"], profile["following_count"]) == (1, 1, 0)


async def test_without_redis_likes_are_counted_in_the_row(
    rooms: Rooms, ana: Person, bo: Person, always_buffered: HotCounters, monkeypatch: pytest.MonkeyPatch
) -> None:
    post = await ana.publish()

    async def away(*_: Any, **__: Any) -> None:
        raise RedisConnectionError

    with monkeypatch.context() as patch:
        patch.setattr(always_buffered, "_touch", away)
        await rooms.posts.like(PostId(int(post["post_id"])), AccountId(int(bo.account_id)))

    assert await rows_of(rooms, post["post_id"]) == (1, 1)
