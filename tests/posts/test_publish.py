"""Publishing over HTTP: what is accepted, what is refused, and idempotency."""

import asyncio
from typing import Any

import msgspec
import pytest
from httpx import AsyncClient

from tests.posts.people import block, id_of, make_private, run_sql
from tests.support import Person, join
from tintype.base.ids import AccountId, MediaId
from tintype.posts import PersonTag, Place
from tintype.posts.validation import make_draft
from tintype.wiring import Rooms


async def media_of(person: Person, count: int = 1) -> list[str]:
    return [(await person.upload()).json()["media_id"] for _ in range(count)]


async def publish(person: Person, **fields: Any) -> Any:
    body = {"media_ids": fields.pop("media_ids", None) or await media_of(person), **fields}
    return await person.call("POST", "/posts", json=body)


async def test_a_post_shows_everything_it_was_published_with(ana: Person, bo: Person) -> None:
    media = await media_of(ana, 2)

    answer = await publish(
        ana,
        media_ids=media,
        caption="  Up early with @BO #Sunrise ☀️ #Küste  ",
        alt_texts=["The sea", "A boat"],
        tagged=[{"media_id": media[1], "account_id": bo.account_id, "x": 0.25, "y": 1}],
        place={"place_id": "cape-1", "name": "The cape", "lat": 54.5, "lon": 13.4},
        comments_enabled=False,
        hides_like_count=True,
    )

    assert answer.status_code == 201, answer.text
    post = (await bo.call("GET", f"/posts/{answer.json()['code']}")).json()
    assert post["caption"] == "Up early with @BO #Sunrise ☀️ #Küste"
    assert [item["alt_text"] for item in post["media"]] == ["The sea", "A boat"]
    assert post["media"][0]["tagged"] == []
    assert post["media"][1]["tagged"] == [
        {"account_id": bo.account_id, "username": "bo", "x": 0.25, "y": 1.0}
    ]
    assert [(post["caption"][each["start"] : each["end"]], each["kind"]) for each in post["spans"]] == [
        ("@BO", "mention"),
        ("#Sunrise", "hashtag"),
        ("#Küste", "hashtag"),
    ]
    assert [each["hashtag"] or each["account_id"] for each in post["spans"]] == [
        bo.account_id,
        "sunrise",
        "küste",
    ]
    assert post["place"] == {"place_id": "cape-1", "name": "The cape", "lat": 54.5, "lon": 13.4}
    assert (post["comments_enabled"], post["hides_like_count"], post["like_count"]) == (False, True, None)
    assert post["viewer_is_tagged"]
    assert not post["viewer_is_author"]


@pytest.mark.parametrize("is_tagged", [False, True])
async def test_the_answer_to_a_new_post_is_what_its_author_reads_later(
    ana: Person, bo: Person, is_tagged: bool
) -> None:
    media = await media_of(ana, 3)
    tag = {"media_id": media[1], "account_id": bo.account_id, "x": 0.123456789, "y": 1 / 3}

    answer = await publish(
        ana,
        media_ids=media,
        caption="With @bo at the #coast",
        alt_texts=["The sea", "", "A boat"],
        tagged=[tag] if is_tagged else [],
        place={"place_id": "cape-1", "name": "The cape", "lat": 54.123456789, "lon": 13.4},
        comments_enabled=False,
        hides_like_count=True,
    )

    assert answer.json() == (await ana.call("GET", f"/posts/{answer.json()['post_id']}")).json()


async def test_a_new_post_is_answered_without_reading_it(ana: Person, reads: list[tuple[str, int]]) -> None:
    media = await media_of(ana)
    reads.clear()

    await publish(ana, media_ids=media, caption="A quiet morning")

    assert [name for name, _ in reads if name in {"publish_at_once", "gather_posts"}] == ["publish_at_once"]


async def test_a_mention_of_nobody_stays_plain_text(rooms: Rooms, ana: Person, bo: Person) -> None:
    await block(rooms, bo, ana)

    post = (await publish(ana, caption="@nobody_here and @bo")).json()

    assert post["spans"] == []


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"caption": "x" * 2_201}, "caption_too_long"),
        ({"caption": "a\0b"}, "text_invalid"),
        ({"caption": " ".join(f"#tag{n}" for n in range(31))}, "too_many_hashtags"),
        ({"caption": " ".join(f"@name{n}" for n in range(31))}, "too_many_mentions"),
        ({"alt_texts": ["x" * 1_001]}, "alt_text_invalid"),
        ({"alt_texts": ["one", "too many"]}, "alt_text_invalid"),
        ({"place": {"place_id": "", "name": "Nowhere"}}, "place_invalid"),
        ({"place": {"place_id": "p", "name": "Half", "lat": 1.0}}, "place_invalid"),
        ({"place": {"place_id": "p", "name": "Beyond", "lat": 91.0, "lon": 0.0}}, "place_invalid"),
        ({"media_ids": ["1"]}, "media_invalid"),
        ({"media_ids": ["9223372036854775807"]}, "media_invalid"),
        ({"tagged": [{"media_id": "1", "account_id": "1", "x": 0, "y": 0}]}, "tags_invalid"),
    ],
)
async def test_an_invalid_post_is_refused_with_its_code(
    ana: Person, fields: dict[str, Any], code: str
) -> None:
    answer = await publish(ana, **fields)

    assert (answer.status_code, answer.json()["code"]) == (400, code)


async def test_a_caption_may_have_2200_characters_of_any_kind(ana: Person) -> None:
    assert (await publish(ana, caption="🌞" * 2_200)).status_code == 201


async def test_expired_media_are_refused(rooms: Rooms, ana: Person) -> None:
    media = await media_of(ana)
    await run_sql(rooms, id_of(ana), f"UPDATE media SET expires_at = now() WHERE id = {media[0]}")

    answer = await publish(ana, media_ids=media)

    assert (answer.status_code, answer.json()["code"]) == (400, "media_invalid")


async def test_who_may_be_tagged(rooms: Rooms, client: AsyncClient, ana: Person, bo: Person) -> None:
    cleo, dora = await join(client, "cleo"), await join(client, "dora")
    await block(rooms, bo, ana)
    await make_private(rooms, cleo)
    await block(rooms, ana, dora)
    media = await media_of(ana)

    async def tag(account_id: str, x: float = 0.5) -> tuple[int, str]:
        tags = [{"media_id": media[0], "account_id": account_id, "x": x, "y": 0.5}]
        answer = await publish(ana, media_ids=media, tagged=tags)
        return answer.status_code, answer.json().get("code")

    assert await tag(bo.account_id) == (403, "tagged_user_blocked_you")
    assert await tag(cleo.account_id) == (400, "tagged_user_not_found")
    assert await tag(dora.account_id) == (400, "tagged_user_not_found")
    assert await tag("1") == (400, "tagged_user_not_found")
    assert await tag(ana.account_id, x=1.01) == (400, "tags_invalid")


async def test_an_idempotency_key_that_is_reused_for_another_post_is_refused(ana: Person) -> None:
    one, other = await media_of(ana, 2)
    headers = {"Idempotency-Key": "k"}

    first = await ana.call("POST", "/posts", json={"media_ids": [one]}, headers=headers)
    reused = await ana.call("POST", "/posts", json={"media_ids": [other]}, headers=headers)
    again = await ana.call("POST", "/posts", json={"media_ids": [one]}, headers=headers)

    assert (reused.status_code, reused.json()["code"]) == (409, "idempotency_key_reused")
    assert (again.status_code, again.json()["post_id"]) == (201, first.json()["post_id"])


async def test_concurrent_requests_with_one_idempotency_key_make_one_post(ana: Person) -> None:
    media = await media_of(ana)
    request = {"json": {"media_ids": media}, "headers": {"Idempotency-Key": "at once"}}

    answers = await asyncio.gather(*(ana.call("POST", "/posts", **request) for _ in range(10)))

    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.json()["post_id"] for answer in answers}) == 1
    assert (await ana.call("GET", "/profiles/ana")).json()["post_count"] == 1


async def test_the_26th_post_within_24_hours_is_rate_limited(rooms: Rooms, ana: Person) -> None:
    await run_sql(
        rooms,
        id_of(ana),
        f"INSERT INTO posts (author_id) SELECT {ana.account_id} FROM generate_series(1, 23)",
    )
    media = await media_of(ana, 5)

    answers = await asyncio.gather(*(publish(ana, media_ids=[each]) for each in media))

    assert sorted(answer.status_code for answer in answers) == [201, 201, 429, 429, 429]
    refused = next(answer for answer in answers if answer.status_code == 429)
    assert refused.json()["code"] == "too_many_posts"
    assert 86_000 < int(refused.headers["Retry-After"]) <= 86_401


async def test_deleted_posts_count_towards_the_daily_limit(rooms: Rooms, ana: Person) -> None:
    await run_sql(
        rooms,
        id_of(ana),
        f"INSERT INTO posts (author_id, deleted_at) SELECT {ana.account_id}, now() FROM generate_series(1, 25)",
    )

    assert (await publish(ana)).status_code == 429


def test_the_encoding_of_a_draft_is_stable_because_its_hash_is_stored() -> None:
    draft = make_draft(
        [MediaId(1)],
        ["sea"],
        [[PersonTag(AccountId(2), 0.5, 1.0)]],
        caption="hi",
        place=Place("p", "Place", 1.0, 2.0),
        comments_enabled=True,
        hides_like_count=False,
    )

    assert msgspec.json.encode(draft) == (
        b'{"items":[{"media_id":1,"alt_text":"sea","tagged":[{"account_id":2,"x":0.5,"y":1.0}]}],"caption":"hi",'
        b'"place":{"id":"p","name":"Place","lat":1.0,"lon":2.0},"comments_enabled":true,"hides_like_count":false}'
    )
