"""Interactions become features: each once, in whatever order they are recorded."""

import asyncio
import itertools
import math
import random
import struct
from collections.abc import Sequence

import pytest
from httpx import AsyncClient

from tests.ranking.helpers import change, handle, id_of, like, order, post_of, save, signals
from tests.support import Person, eventually, join
from tintype.base.ids import CommentId
from tintype.comments import CommentAdded, CommentRemoved
from tintype.posts import PostEdited, PostLiked, PostPublished, PostRemoved
from tintype.ranking import Interaction
from tintype.ranking.feature_store import facts_of
from tintype.ranking.models import PostFacts
from tintype.ranking.row_layouts import POST, parse
from tintype.saves import PostSaved
from tintype.wiring import Rooms
from tintype.worker import Worker


@pytest.mark.slow
async def test_likes_comments_saves_and_visits_bring_people_closer(
    working: Worker, rooms: Rooms, ana: Person, bo: Person
) -> None:
    post = await ana.publish("light #morning")
    felt: list[float] = []

    async def is_closer() -> bool:
        return (await rooms.ranking.affinities(id_of(bo), [id_of(ana)]))[id_of(ana)] > (felt or [0.0])[-1]

    path = f"/posts/{post['post_id']}"
    for method, where, body in (
        ("PUT", f"{path}/like", None),
        ("POST", f"{path}/comments", {"text": "What light!"}),
        ("PUT", f"{path}/save", {}),
        ("GET", "/profiles/ana", None),
    ):
        answer = await bo.call(method, where, **({} if body is None else {"json": body}))
        assert answer.status_code < 300, answer.text
        await eventually(is_closer, what=f"{method} {where} counts")
        felt.append((await rooms.ranking.affinities(id_of(bo), [id_of(ana)]))[id_of(ana)])

    found = await signals(rooms, bo, post)
    assert found["interest"] > 0.1
    assert found["popularity"] > 0.1
    assert await rooms.ranking.affinities(id_of(ana), [id_of(bo)]) == {id_of(bo): 0.0}


async def test_a_repeated_event_counts_once(rooms: Rooms, ana: Person, bo: Person) -> None:
    post = await ana.publish("light #morning")
    events = [like(post, ana, bo, change(rooms, 1)), save(post, bo, change(rooms, 2))]
    await handle(rooms, *events)
    before = await signals(rooms, bo, post)

    await handle(rooms, *events, *reversed(events))

    after = await signals(rooms, bo, post)
    assert {name: after[name] for name in ("affinity", "interest", "popularity")} == pytest.approx(
        {name: before[name] for name in ("affinity", "interest", "popularity")}, abs=1e-3
    )


@pytest.mark.parametrize("sequence", list(itertools.permutations(range(3))), ids=str)
async def test_the_newest_change_counts_in_whatever_order_they_come(
    rooms: Rooms, ana: Person, bo: Person, sequence: tuple[int, ...]
) -> None:
    post, first = await ana.publish("#sea"), change(rooms)
    events = [
        like(post, ana, bo, first),
        like(post, ana, bo, first + 1, is_liked=False),
        like(post, ana, bo, first + 2),
    ]
    await handle(rooms, *(events[each] for each in sequence), *(events[each] for each in sequence))
    liked = await signals(rooms, bo, post)

    await handle(rooms, like(post, ana, bo, first + 3, is_liked=False), *events)
    unliked = await signals(rooms, bo, post)

    assert (liked["affinity"], liked["interest"]) == pytest.approx((0.08, 0.095), abs=0.01)
    assert (unliked["affinity"], unliked["interest"], unliked["popularity"]) == (0, 0, 0)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.slow
async def test_of_random_repeated_and_shuffled_events_the_newest_of_each_counts(
    rooms: Rooms, ana: Person, bo: Person, seed: int
) -> None:
    chance = random.Random(seed)  # noqa: S311 - an order, not a secret
    posts, first = [await ana.publish(f"#t{number}") for number in range(3)], change(rooms)
    stands = {(post["post_id"], kind): False for post in posts for kind in ("like", "save")}
    events: list[PostLiked | PostSaved] = []
    for number in range(chance.randint(1, 30)):
        post, is_on = chance.choice(posts), chance.random() < 0.6
        if chance.random() < 0.5:
            events.append(like(post, ana, bo, first + number, is_liked=is_on))
            stands[post["post_id"], "like"] = is_on
        else:
            events.append(save(post, bo, first + number, is_saved=is_on))
            stands[post["post_id"], "save"] = is_on
    shuffled = chance.choices(events, k=len(events)) + events
    chance.shuffle(shuffled)

    await handle(rooms, *shuffled)

    expected = sum({"like": 1.0, "save": 2.5}[kind] for (_, kind), is_on in stands.items() if is_on)
    close = (await rooms.ranking.affinities(id_of(bo), [id_of(ana)]))[id_of(ana)]
    assert close == pytest.approx(1 - math.exp(-expected / 12), abs=1e-3)


@pytest.mark.slow
async def test_more_interactions_than_are_remembered_still_count_once_each(
    rooms: Rooms, ana: Person, bo: Person
) -> None:
    post, first = await ana.publish(), change(rooms)
    events = [
        CommentAdded(CommentId(first + each), post_of(post), id_of(ana), id_of(bo)) for each in range(300)
    ]
    await handle(rooms, *events)
    before = await rooms.redis.get(_affinity(rooms, bo))

    await handle(rooms, *events[:100], *events[-50:])

    assert await rooms.redis.get(_affinity(rooms, bo)) == before
    assert await rooms.redis.strlen(_affinity(rooms, bo).replace("affinity", "acts")) <= 8 + 128 * 21


async def test_concurrent_interactions_all_count_and_each_once(rooms: Rooms, ana: Person, bo: Person) -> None:
    post, first = await ana.publish(), change(rooms)
    people = [type(id_of(bo))(id_of(bo) + each) for each in range(30)]
    likes = [
        PostLiked(post_of(post), id_of(ana), each, first + number, is_liked=True)
        for number, each in enumerate(people)
    ]
    messages = [(id_of(bo), id_of(ana), first + number) for number in range(30)]

    async def record(event: PostLiked) -> None:
        await rooms.ranking.activity._writer.record(_interaction(event))  # pyright: ignore[reportPrivateUsage] - one step of many, all at once

    await asyncio.gather(*(record(each) for each in likes * 3))
    await asyncio.gather(*(rooms.ranking.record_message(*each) for each in messages * 3))

    row = await rooms.redis.get(f"{rooms.settings.namespace}:ranking:post:{post['post_id']}")
    assert isinstance(row, bytes)
    assert struct.unpack_from("<f", row)[0] == pytest.approx(30, abs=0.1)
    affinity = await rooms.redis.get(_affinity(rooms, bo))
    assert isinstance(affinity, bytes)
    values = [struct.unpack_from("<f", affinity, start + 8)[0] for start in range(0, len(affinity), 16)]
    assert max(values) == pytest.approx(30 * 4 + 1, abs=1.5)


async def test_a_deleted_comment_no_longer_counts_even_if_the_deletion_is_handled_first(
    rooms: Rooms, ana: Person, bo: Person
) -> None:
    post, comment = await ana.publish(), CommentId(change(rooms))
    added = CommentAdded(comment, post_of(post), id_of(ana), id_of(bo))
    removed = CommentRemoved(comment, post_of(post), id_of(bo))

    await handle(rooms, removed, added)
    assert (await signals(rooms, bo, post))["affinity"] == 0

    await handle(rooms, CommentAdded(CommentId(comment + 5), post_of(post), id_of(ana), id_of(bo)))
    await handle(rooms, CommentRemoved(CommentId(comment + 5), post_of(post), id_of(bo)))
    assert (await signals(rooms, bo, post))["affinity"] == 0


async def test_the_weakest_affinities_are_evicted(rooms: Rooms, ana: Person, bo: Person) -> None:
    ranking, friend = rooms.ranking, id_of(ana)
    for number in range(5):
        await ranking.record_message(id_of(bo), friend, change(rooms, number))
    for number in range(300):
        stranger = type(friend)(friend + 1 + number)
        await ranking.record_story_view(id_of(bo), stranger, change(rooms, 10 + number))

    assert await rooms.redis.strlen(_affinity(rooms, bo)) == 256 * 16
    assert (await rooms.ranking.affinities(id_of(bo), [friend]))[friend] > 0.7


async def test_likes_of_ones_own_posts_do_not_count(rooms: Rooms, ana: Person) -> None:
    post = await ana.publish("#me")

    await handle(rooms, like(post, ana, ana, change(rooms)))

    found = await signals(rooms, ana, post)
    assert (found["affinity"], found["interest"], found["popularity"]) == (0, 0, 0)


async def test_cadence_grows_with_posts_and_each_post_counts_once(rooms: Rooms, ana: Person) -> None:
    posts = [await ana.publish(f"{number}") for number in range(3)]
    events = [PostPublished(post_of(each), id_of(ana)) for each in posts]

    await handle(rooms, events[0])
    rare = (await signals(rooms, ana, posts[0]))["cadence"]
    await handle(rooms, *events, *events)
    frequent = (await signals(rooms, ana, posts[2]))["cadence"]
    await handle(rooms, *events)

    assert 0 < rare < frequent
    assert (await signals(rooms, ana, posts[2]))["cadence"] == frequent


async def test_the_hashtags_of_an_edited_post_count(
    rooms: Rooms, working: Worker, ana: Person, bo: Person
) -> None:
    sea, town = await ana.publish("#sea"), await ana.publish("#town")
    await handle(rooms, like(sea, ana, bo, change(rooms)))

    assert (await signals(rooms, bo, town))["interest"] == 0
    await ana.call("PATCH", f"/posts/{town['post_id']}", json={"caption": "#sea"})

    async def is_handled() -> bool:
        return (await signals(rooms, bo, town))["interest"] > 0

    await eventually(is_handled, what="the edit reached the features")


async def test_an_edit_that_overtakes_the_publication_stays(rooms: Rooms, ana: Person, bo: Person) -> None:
    sea, town = await ana.publish("#sea"), await ana.publish("#town")
    await handle(rooms, like(sea, ana, bo, change(rooms)))
    published = PostPublished(post_of(town), id_of(ana), hashtags=("town",), media_count=1)
    await ana.call("PATCH", f"/posts/{town['post_id']}", json={"caption": "#sea"})

    await handle(rooms, PostEdited(post_of(town), id_of(ana), change(rooms), hashtags=("sea",)))
    await handle(rooms, published)

    assert (await signals(rooms, bo, town))["interest"] > 0


async def test_with_an_empty_redis_the_newest_come_first_until_features_return(
    rooms: Rooms, client: AsyncClient, ana: Person, bo: Person
) -> None:
    cy = await join(client, "cy")
    old, new = await ana.publish("#sea"), await cy.publish()
    for number in range(20):
        await rooms.ranking.record_message(id_of(bo), id_of(ana), change(rooms, number))
    posts = [old, new]
    assert await order(rooms, bo, posts) == [old["post_id"], new["post_id"]]

    await rooms.redis.flushdb()

    assert await order(rooms, bo, posts) == [new["post_id"], old["post_id"]]
    await handle(rooms, like(old, ana, bo, change(rooms)))
    assert (await signals(rooms, bo, old))["interest"] > 0


async def test_the_features_of_a_deleted_post_are_deleted(
    rooms: Rooms, working: Worker, ana: Person, bo: Person
) -> None:
    post = await ana.publish()
    await handle(rooms, like(post, ana, bo, change(rooms)))
    name = f"{rooms.settings.namespace}:ranking:post:{post['post_id']}"
    assert await rooms.redis.exists(name)

    await ana.call("DELETE", f"/posts/{post['post_id']}")

    async def is_gone() -> bool:
        hot = await rooms.redis.zscore(f"{rooms.settings.namespace}:ranking:hot", post["post_id"])
        return not await rooms.redis.exists(name) and hot is None

    await eventually(is_gone, what="the features were deleted with the post")


async def test_the_features_of_a_post_deleted_while_they_are_written_are_deleted(
    rooms: Rooms, ana: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    post = await ana.publish()
    store, write = rooms.ranking.feature_store, rooms.ranking.feature_store.write

    async def write_late(posts: Sequence[PostFacts]) -> list[bytes]:
        await ana.call("DELETE", f"/posts/{post['post_id']}")
        await store.delete(post_of(post))
        return await write(posts)

    monkeypatch.setattr(store, "write", write_late)
    await handle(rooms, PostPublished(post_of(post), id_of(ana)))

    assert not await rooms.redis.exists(f"{rooms.settings.namespace}:ranking:post:{post['post_id']}")


async def test_features_of_a_new_post_need_no_read(
    rooms: Rooms, ana: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    post = await ana.publish("light #morning")
    name = f"{rooms.settings.namespace}:ranking:post:{post['post_id']}"
    store = rooms.ranking.feature_store
    read = await store.write([facts_of((await rooms.posts.find_unfiltered([post_of(post)]))[post_of(post)])])
    await rooms.redis.delete(name)
    monkeypatch.setattr(rooms.posts, "find_unfiltered", None)

    await handle(rooms, PostPublished(post_of(post), id_of(ana), hashtags=("morning",), media_count=1))

    written = await rooms.redis.get(name)
    assert isinstance(written, bytes)
    assert (
        parse(written, POST)[["author", "flags", "tags"]] == parse(read[0], POST)[["author", "flags", "tags"]]
    )


async def test_a_new_post_whose_removal_was_handled_first_has_no_features(rooms: Rooms, ana: Person) -> None:
    post = await ana.publish()
    await ana.call("PUT", f"/posts/{post['post_id']}/archive")
    await handle(rooms, PostRemoved(post_of(post), id_of(ana), change(rooms), is_deleted=False))

    await handle(rooms, PostPublished(post_of(post), id_of(ana), media_count=1))

    assert not await rooms.redis.exists(f"{rooms.settings.namespace}:ranking:post:{post['post_id']}")
    assert await rooms.redis.zscore(f"{rooms.settings.namespace}:ranking:hot", post["post_id"]) is None


async def test_a_post_that_is_shown_again_has_features_again(rooms: Rooms, ana: Person) -> None:
    post = await ana.publish()
    await handle(rooms, PostRemoved(post_of(post), id_of(ana), change(rooms), is_deleted=False))

    await handle(rooms, PostPublished(post_of(post), id_of(ana), is_new=False))
    await handle(rooms, PostPublished(post_of(post), id_of(ana), media_count=1))  # the first event, again

    assert await rooms.redis.exists(f"{rooms.settings.namespace}:ranking:post:{post['post_id']}")


def _interaction(event: PostLiked) -> Interaction:
    return Interaction(
        viewer_id=event.account_id,
        kind="like",
        object_id=event.post_id,
        change_id=event.change_id,
        author_id=event.author_id,
        post_id=event.post_id,
    )


def _affinity(rooms: Rooms, person: Person) -> str:
    return f"{rooms.settings.namespace}:ranking:affinity:{person.account_id}"
