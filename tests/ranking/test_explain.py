"""Explanations of ranks, and ranking while something is missing."""

import math
from collections.abc import Sequence
from typing import Any

import pytest
from redis.exceptions import ConnectionError as RedisConnectionError

from tests.ranking.helpers import change, explanation, handle, id_of, like, post_of
from tests.support import Person
from tintype.ranking import FEATURES, OUTCOMES, Ranking, ViewerFeatures
from tintype.redis.client import PipelinedRedisClient
from tintype.wiring import Rooms


class UnreachableRedisClient(PipelinedRedisClient):
    """A client of a Redis that does not answer."""

    async def execute(self, *commands: Sequence[Any]) -> list[Any]:
        raise RedisConnectionError(f"{len(commands)} commands were not sent")


async def test_an_explanation_adds_up_to_the_score_and_puts_it_into_words(
    rooms: Rooms, ana: Person, bo: Person
) -> None:
    post = await ana.publish("#sea")
    for number in range(4):
        await rooms.ranking.record_message(id_of(bo), id_of(ana), change(rooms, number))
    await handle(rooms, like(post, ana, bo, change(rooms, 9)))

    explained = await explanation(rooms, bo, post)

    assert [each.name for each in explained.signals] == list(FEATURES)
    assert [each.name for each in explained.outcomes] == list(OUTCOMES)
    summed = math.prod(explained.factors.values()) * sum(
        each.value * each.probability for each in explained.outcomes
    )
    assert explained.score == pytest.approx(summed, abs=0.01)
    assert "you are close to its author" in explained.summary
    assert "seen it before" not in explained.summary
    assert "affinity" in explained.reasons
    by_name = {each.name: each for each in explained.signals}
    assert by_name["affinity"].contributions["comment"] > 0
    assert all(each.words for each in explained.signals)


async def test_an_explanation_says_that_a_post_was_seen(rooms: Rooms, ana: Person, bo: Person) -> None:
    post = await ana.publish()
    await bo.call("POST", "/feed/seen", json={"impressions": [{"post_id": post["post_id"]}]})

    explained = await explanation(rooms, bo, post)

    assert "You have seen it before" in explained.summary
    assert explained.reasons[-1] == "seen"


async def test_while_redis_is_away_the_newest_comes_first(rooms: Rooms, ana: Person, bo: Person) -> None:
    posts = [post_of(await ana.publish(f"{number}")) for number in range(3)]
    away = Ranking(
        UnreachableRedisClient(rooms.redis),
        rooms.redis,
        rooms.shards,
        accounts=rooms.accounts,
        posts=rooms.posts,
        visibility=rooms.visibility,
        limiter=rooms.limiter,
        settings=rooms.settings,
    )

    ranked = await away.rank(id_of(bo), posts)

    assert [each.post_id for each in ranked] == posts[::-1]
    assert await away.affinities(id_of(bo), [id_of(ana)]) == {id_of(ana): 0.0}


async def test_posts_that_never_existed_and_truncated_rows_are_ranked_too(rooms: Rooms, bo: Person) -> None:
    truncated = ViewerFeatures.parse([b"\x01\x02\x03", b"xyz" * 7, b"\xff"])
    ids = [post_of({"post_id": each}) for each in (2**62, 12_345, 7)]

    assert [each.post_id for each in await rooms.ranking.rank(id_of(bo), ids, truncated)] == ids
    assert await rooms.ranking.rank(id_of(bo), []) == []


async def test_rows_are_refreshed_in_the_background(
    rooms: Rooms, ana: Person, bo: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    post, now = await ana.publish(), [1_000.0]
    monkeypatch.setattr(rooms.ranking.feature_store, "_clock", lambda: now[0])
    rooms.ranking.feature_store.evict_all()
    before = (await rooms.ranking.feature_store.get_rows([post_of(post)])).value[0]
    await handle(rooms, like(post, ana, bo, change(rooms)))

    assert (await rooms.ranking.feature_store.get_rows([post_of(post)])).value[0] == before
    now[0] += 6
    assert (await rooms.ranking.feature_store.get_rows([post_of(post)])).value[0] == before
    await rooms.ranking.close()
    assert (await rooms.ranking.feature_store.get_rows([post_of(post)])).value[0] > before
    rooms.ranking.feature_store.evict_all()


async def test_a_reader_gets_an_explanation_of_a_posts_rank(rooms: Rooms, ana: Person, bo: Person) -> None:
    post = await ana.publish("#sea")

    answer = await bo.call("GET", f"/posts/{post['post_id']}/explanation")

    assert answer.status_code == 200
    assert answer.json()["summary"] == (await explanation(rooms, bo, post)).summary
    assert [each["name"] for each in answer.json()["signals"]] == list(FEATURES)
