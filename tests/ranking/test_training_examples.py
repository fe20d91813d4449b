"""Training examples: what was served and seen, and the outcomes; they expire, and none is stored of erased accounts."""

from collections.abc import Sequence
from typing import Any

import pytest

from shardwright.routing import Query
from tests.ranking.helpers import change, handle, id_of, like, order, save
from tests.support import Person, join
from tintype.ranking import FEATURES, TrainingExample
from tintype.wiring import Rooms

AGE = Query.parse("age", "UPDATE ranking_examples SET expires_on = current_date - 1")
COUNT = Query.parse("count", "SELECT count(*) FROM ranking_examples WHERE account_id = :account_id")
CLOSE = Query.parse("close", "UPDATE accounts SET status = 'gone' WHERE id = :account_id")


@pytest.fixture(autouse=True)
def everybody_is_sampled(rooms: Rooms, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rooms.ranking.training_examples, "_share", 1.0)
    monkeypatch.setattr(rooms.ranking.training_examples, "_sampled", dict[int, bool]())


async def see(person: Person, posts: Sequence[dict[str, Any]], ms: int = 1_500) -> None:
    body = {"impressions": [{"post_id": each["post_id"], "ms": ms} for each in posts]}
    answer = await person.call("POST", "/feed/seen", json=body)
    assert answer.status_code == 204, answer.text


async def read_examples(rooms: Rooms) -> list[TrainingExample]:
    return [each async for each in rooms.ranking.read_training_examples()]


async def count(rooms: Rooms, person: Person) -> int:
    return await rooms.shards.owner(id_of(person)).fetch_value(COUNT, account_id=id_of(person))


async def test_a_post_served_and_seen_is_stored_with_its_features_and_outcomes(
    rooms: Rooms, ana: Person, bo: Person
) -> None:
    post = await ana.publish("#sea")
    await handle(rooms, like(await ana.publish("#sea"), ana, bo, change(rooms)))
    await order(rooms, bo, [post])
    await see(bo, [post], ms=12_000)
    await handle(rooms, save(post, bo, change(rooms, 2)), like(post, ana, bo, change(rooms, 3)))

    [example] = await read_examples(rooms)

    features = dict(zip(FEATURES, example.features, strict=True))
    assert features["affinity"] == pytest.approx(0.08, abs=0.01)
    assert (features["seen"], example.score > 0, example.weights.startswith("hand-1")) == (0, True, True)
    assert example.outcomes == {"like": True, "comment": False, "save": True, "share": False, "linger": True}


async def test_an_outcome_before_its_impression_and_an_undone_one_are_joined(
    rooms: Rooms, ana: Person, bo: Person
) -> None:
    post, first = await ana.publish(), change(rooms)
    await order(rooms, bo, [post])
    undone, liked = like(post, ana, bo, first + 1, is_liked=False), like(post, ana, bo, first)

    await handle(rooms, undone, liked, save(post, bo, first))
    assert await read_examples(rooms) == []
    await see(bo, [post])
    await see(bo, [post])

    [example] = await read_examples(rooms)
    assert (example.outcomes["like"], example.outcomes["save"]) == (False, True)


async def test_a_post_that_was_not_served_is_no_example(rooms: Rooms, ana: Person, bo: Person) -> None:
    await see(bo, [await ana.publish()])

    assert await read_examples(rooms) == []


async def test_nothing_is_stored_of_a_viewer_who_is_not_sampled(
    rooms: Rooms, ana: Person, bo: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rooms.ranking.training_examples, "_share", 0.0)
    post = await ana.publish()
    await order(rooms, bo, [post])
    await see(bo, [post])
    await handle(rooms, like(post, ana, bo, change(rooms)))

    assert await count(rooms, bo) == 0
    assert not await rooms.redis.exists(f"{rooms.settings.namespace}:ranking:served:{bo.account_id}")


async def test_examples_expire(rooms: Rooms, ana: Person, bo: Person) -> None:
    posts = [await ana.publish(), await ana.publish()]
    await order(rooms, bo, posts)
    await see(bo, posts[:1])
    await rooms.ranking.training_examples.sweep()
    assert await count(rooms, bo) == 1

    await rooms.shards.owner(id_of(bo)).execute(AGE)
    await rooms.ranking.training_examples.sweep()

    assert await count(rooms, bo) == 0


async def test_seen_posts_rank_lower_and_invisible_ones_are_ignored(
    rooms: Rooms, client: Any, ana: Person, bo: Person
) -> None:
    cy = await join(client, "cy")
    assert (await cy.call("PATCH", "/accounts/me", json={"is_private": True})).status_code == 200
    posts = [await ana.publish(), await ana.publish()]
    hidden = await cy.publish()
    assert await order(rooms, bo, posts) == [posts[1]["post_id"], posts[0]["post_id"]]

    await see(bo, [posts[1], hidden, {"post_id": "12345"}])

    assert await order(rooms, bo, posts) == [posts[0]["post_id"], posts[1]["post_id"]]
    assert await rooms.redis.strlen(f"{rooms.settings.namespace}:ranking:seen:{bo.account_id}") == 4


async def test_the_list_of_seen_posts_is_bounded(rooms: Rooms, ana: Person, bo: Person) -> None:
    post, name = await ana.publish(), f"{rooms.settings.namespace}:ranking:seen:{bo.account_id}"
    await rooms.redis.set(name, b"1234" * 1_875)

    await see(bo, [post])

    assert await rooms.redis.strlen(name) == 1_500 * 4
    assert await rooms.redis.ttl(name) > 0


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"impressions": []},
        {"impressions": [{"post_id": "1", "ms": 1}] * 101},
        {"impressions": [{"post_id": "0"}]},
        {"impressions": [{"post_id": "9" * 19}]},
        {"impressions": [{"post_id": "1", "ms": -1}]},
        {"impressions": [{"post_id": "1", "ms": 10**30}]},
        {"impressions": [{"post_id": "1", "more": 1}]},
    ],
    ids=str,
)
async def test_invalid_impressions_are_refused(bo: Person, body: dict[str, Any]) -> None:
    assert (await bo.call("POST", "/feed/seen", json=body)).status_code == 400


async def test_personal_data_is_exported_erased_and_does_not_come_back(
    rooms: Rooms, ana: Person, bo: Person
) -> None:
    post, erased = await ana.publish("#sea"), id_of(bo)
    await order(rooms, bo, [post])
    await see(bo, [post], ms=20_000)
    await handle(rooms, like(post, ana, bo, change(rooms)))

    exported = [record.content async for record in rooms.ranking.personal_data.export(erased)]
    assert [(each.get("post_id"), each.get("account_id")) for each in exported] == [
        (post["post_id"], None),
        (None, ana.account_id),
    ]
    await rooms.shards.owner(erased).execute(CLOSE, account_id=erased)
    await rooms.accounts.invalidate(erased)
    while await rooms.ranking.personal_data.erase(erased):
        pass
    assert await rooms.ranking.personal_data.count_left(erased) == 0

    await handle(
        rooms, like(post, ana, bo, change(rooms, 9), is_liked=False), save(post, bo, change(rooms, 9))
    )
    assert await rooms.ranking.personal_data.count_left(erased) == 0
