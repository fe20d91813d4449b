"""Why a post stands where it does, and that an order never fails."""

import math
from collections.abc import Sequence
from typing import Any

import pytest
from redis.exceptions import ConnectionError as RedisAway

from tests.ranking.scene import change, explanation, id_of, like, post_of, tell
from tests.support import Person
from tintype.base.wire import PipelinedWire
from tintype.ranking import FEATURES, OUTCOMES, Known, Ranking
from tintype.wiring import Rooms


class AwayWire(PipelinedWire):
    """A wire to a Redis that does not answer."""

    async def ask(self, *commands: Sequence[Any]) -> list[Any]:
        raise RedisAway(f"nobody hears {len(commands)} commands")


async def test_an_explanation_adds_up_to_the_score_and_says_it_in_words(
    rooms: Rooms, ana: Person, bo: Person
) -> None:
    post = await ana.publish("#sea")
    for number in range(4):
        await rooms.ranking.looking.note_message(id_of(bo), id_of(ana), change(rooms, number))
    await tell(rooms, like(post, ana, bo, change(rooms, 9)))

    told = await explanation(rooms, bo, post)

    assert [each.name for each in told.signals] == list(FEATURES)
    assert [each.name for each in told.outcomes] == list(OUTCOMES)
    summed = math.prod(told.factors.values()) * sum(each.value * each.probability for each in told.outcomes)
    assert told.score == pytest.approx(summed, abs=0.01)
    assert "you are close to its author" in told.summary
    assert "seen it before" not in told.summary
    assert "affinity" in told.reasons
    by_name = {each.name: each for each in told.signals}
    assert by_name["affinity"].contributions["comment"] > 0
    assert all(each.words for each in told.signals)


async def test_an_explanation_says_that_a_post_was_seen(rooms: Rooms, ana: Person, bo: Person) -> None:
    post = await ana.publish()
    await bo.call("POST", "/feed/seen", json={"impressions": [{"post_id": post["post_id"]}]})

    told = await explanation(rooms, bo, post)

    assert "You have seen it before" in told.summary
    assert told.reasons[-1] == "seen"


async def test_while_redis_is_away_the_newest_comes_first(rooms: Rooms, ana: Person, bo: Person) -> None:
    posts = [post_of(await ana.publish(f"{number}")) for number in range(3)]
    away = Ranking(
        AwayWire(rooms.redis),
        rooms.redis,
        rooms.shards,
        accounts=rooms.accounts,
        posts=rooms.posts,
        sight=rooms.sight,
        limiter=rooms.limiter,
        settings=rooms.settings,
    )

    ranked = await away.rank(id_of(bo), posts)

    assert [each.post_id for each in ranked] == posts[::-1]
    assert await away.affinities(id_of(bo), [id_of(ana)]) == {id_of(ana): 0.0}


async def test_posts_that_never_were_and_torn_rows_are_ordered_too(rooms: Rooms, bo: Person) -> None:
    torn = Known.read([b"\x01\x02\x03", b"xyz" * 7, b"\xff"])
    ids = [post_of({"post_id": each}) for each in (2**62, 12_345, 7)]

    assert [each.post_id for each in await rooms.ranking.rank(id_of(bo), ids, torn)] == ids
    assert await rooms.ranking.rank(id_of(bo), []) == []


async def test_rows_are_read_anew_behind_the_readers_back(
    rooms: Rooms, ana: Person, bo: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    post, now = await ana.publish(), [1_000.0]
    monkeypatch.setattr(rooms.ranking.facts, "_clock", lambda: now[0])
    rooms.ranking.facts.forget()
    before = (await rooms.ranking.facts.of([post_of(post)])).value[0]
    await tell(rooms, like(post, ana, bo, change(rooms)))

    assert (await rooms.ranking.facts.of([post_of(post)])).value[0] == before
    now[0] += 6
    assert (await rooms.ranking.facts.of([post_of(post)])).value[0] == before
    await rooms.ranking.close()
    assert (await rooms.ranking.facts.of([post_of(post)])).value[0] > before
    rooms.ranking.facts.forget()


async def test_a_reader_may_ask_why_a_post_stands_where_it_does(
    rooms: Rooms, ana: Person, bo: Person
) -> None:
    post = await ana.publish("#sea")

    answer = await bo.call("GET", f"/posts/{post['post_id']}/explanation")

    assert answer.status_code == 200
    assert answer.json()["summary"] == (await explanation(rooms, bo, post)).summary
    assert [each["name"] for each in answer.json()["signals"]] == list(FEATURES)
