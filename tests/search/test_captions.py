from typing import Any

import pytest
from httpx import AsyncClient

from shardwright.routing import Query
from tests.search.conftest import Change, Publish
from tests.support import Person
from tintype.base.ids import AccountId, PostId
from tintype.posts import PostChanges, PostPublished
from tintype.search import captions
from tintype.wiring import Rooms

LISTED = Query.parse("listed", "SELECT word, post_id FROM caption_words")
STRAY = Query.parse("stray", "INSERT INTO caption_words VALUES ('stray', 1, ' stray', 1)")


async def find(viewer: Person, text: str, **params: Any) -> tuple[list[str], str | None]:
    answer = await viewer.call("GET", "/search/posts", params={"q": text, **params})
    assert answer.status_code == 200, answer.text
    body = answer.json()
    return [each["post_id"] for each in body["posts"]], body["next_cursor"]


def say_nothing(stage: str, done: int, total: int) -> None:
    """Progress that nobody watches."""


async def found(viewer: Person, text: str) -> list[str]:
    return (await find(viewer, text))[0]


async def listed(rooms: Rooms) -> set[str]:
    return {row["word"] for row in (await rooms.shards.everywhere().fetch(LISTED)).rows}


async def test_captions_are_found_by_their_words_newest_first_page_by_page(
    ana: Person, bo: Person, publish: Publish
) -> None:
    made = [await publish(ana, f"Fischer am Hafen, Bild {n} #dämmerung") for n in range(3)]
    await publish(ana, "Something else")

    first, cursor = await find(bo, "hafen", limit=2)
    second, end = await find(bo, "HAFEN", limit=2, cursor=cursor)

    assert first + second == made[::-1]
    assert end is None
    assert await found(bo, "hafen fisch") == made[::-1]
    assert await found(bo, "dammerung") == made[::-1]
    assert await found(bo, "hafen berge") == []
    assert await found(bo, "haf") == []


async def test_an_edited_caption_is_found_by_its_new_words_only(
    rooms: Rooms, ana: Person, bo: Person, publish: Publish
) -> None:
    post_id = await publish(ana, "boats and nets")
    ids = PostId(int(post_id)), AccountId(int(ana.account_id))

    await rooms.posts.edit(*ids, PostChanges(caption="lighthouses and nets"))
    await rooms.search.index_post(*ids)

    assert await found(bo, "boats") == []
    assert await found(bo, "lighthouses") == [post_id]
    assert await listed(rooms) == {"lighthouses", "and", "nets"}


async def test_only_public_captions_are_listed_and_blocks_hide_them(
    rooms: Rooms, ana: Person, bo: Person, publish: Publish, change: Change
) -> None:
    post_id = await publish(ana, "harbour")
    assert await found(bo, "harbour") == [post_id]

    await rooms.graph.block(AccountId(int(ana.account_id)), AccountId(int(bo.account_id)))
    assert await found(bo, "harbour") == []
    await change(ana, "is_private = true")
    assert await listed(rooms) == set()
    await change(ana, "is_private = false")
    assert await listed(rooms) == {"harbour"}
    await rooms.posts.delete(PostId(int(post_id)), by=AccountId(int(ana.account_id)))
    assert await found(ana, "harbour") == []  # before any handler has run


async def test_a_word_keeps_its_newest_posts(
    ana: Person, bo: Person, publish: Publish, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(captions, "MAX_LISTED", 2)
    monkeypatch.setattr(captions, "TRIM_ONE_IN", 1)

    made = [await publish(ana, "harbour") for _ in range(4)]

    assert await found(bo, "harbour") == made[:1:-1]


async def test_a_rebuild_finds_lost_words_and_drops_stray_ones(
    rooms: Rooms, ana: Person, bo: Person, publish: Publish
) -> None:
    post_id = await publish(ana, "harbour")
    async with rooms.shards.of("word:harbour").begin() as tx:
        await tx.connection.execute("DELETE FROM caption_words")
    await rooms.shards.of("word:stray").execute(STRAY)

    await rooms.search.rebuild(say_nothing)

    assert await found(bo, "harbour") == [post_id]
    assert await listed(rooms) == {"harbour"}


async def test_guests_do_not_search_captions(client: AsyncClient) -> None:
    answer = await client.get("/api/v1/search/posts", params={"q": "harbour"})

    assert answer.json()["code"] == "not_signed_in"


async def test_new_posts_are_listed_in_batches_whatever_other_runs_do(
    rooms: Rooms, ana: Person, bo: Person
) -> None:
    posts = [await ana.publish(f"harbour {n} #quay") for n in range(3)] + [await bo.publish("")]
    events = [
        PostPublished(PostId(int(each["post_id"])), AccountId(int(each["author"]["account_id"])))
        for each in posts
    ]
    await rooms.search.index_post(events[0].post_id, events[0].author_id)  # an edit was faster
    await rooms.posts.edit(events[1].post_id, events[1].author_id, PostChanges(caption="mountains"))
    [handler] = [each for each in rooms.search.handlers() if each.name == "search-post-published"]
    assert handler.run_many is not None

    await handler.run_many([*events, *events])
    await handler.run_many(events)

    ids = {each["post_id"] for each in posts}
    assert set(await found(bo, "harbour")) == ids - {posts[1]["post_id"], posts[3]["post_id"]}
    assert await found(bo, "mountains") == [posts[1]["post_id"]]
