from typing import cast

import pytest
from httpx import AsyncClient

from tests.feed.world import World
from tests.support import Person, join
from tintype.base.ids import AccountId, MediaId, PostId
from tintype.feed import TagInvalid, TooManyTags, followed_tags
from tintype.posts import PostChanges
from tintype.wiring import Rooms

NEW_MEDIA = """
INSERT INTO media (id, account_id, folder, width, height, expires_at)
VALUES (next_id(), {0}, 'none', 10, 10, now() + interval '1 hour') RETURNING id
"""


async def publish(world: World, author: AccountId, caption: str) -> PostId:
    """A post whose hashtags are indexed, as the worker does."""
    rows = await world.sql(author, NEW_MEDIA.format(author))
    post_id = await world.rooms.posts.publish(author, [MediaId(rows[0]["id"])], caption=caption)
    await world.rooms.search.index_post(post_id, author)
    return post_id


async def tag_lists(world: World) -> list[str]:
    """The keys of the lists of hashtags."""
    return cast("list[str]", await world.rooms.redis.keys("*star*:-*"))


async def test_posts_of_a_followed_hashtag_are_in_the_feed_before_and_after(world: World) -> None:
    ana, bo, viewer = await world.people("ana", "bo", "viewer")
    before = await publish(world, ana, "Early #Harbour light")
    other = await publish(world, ana, "No tag here")
    assert await world.read(viewer) == []

    await world.feed.follow_tag(viewer, "#HARBOUR")
    assert await world.read(viewer) == [before]
    after = await publish(world, bo, "At last #harbour #dawn")
    await world.work()
    by_rank = await world.read(viewer, mode="ranked")

    assert await world.read(viewer) == [after, before]
    assert set(by_rank) == {after, before}
    assert other not in by_rank
    assert await world.feed.tags.list_of(viewer) == ["harbour"]

    await world.feed.unfollow_tag(viewer, "harbour")
    assert await world.read(viewer) == []


async def test_a_post_that_comes_for_two_reasons_is_shown_once_and_says_whom_one_follows(
    world: World,
) -> None:
    ana, bo, viewer = await world.people("ana", "bo", "viewer")
    await world.rooms.graph.follow(viewer, ana)
    await world.feed.follow_tag(viewer, "harbour")
    by_ana = await publish(world, ana, "#harbour")
    by_bo = await publish(world, bo, "#harbour #dawn")
    own = await publish(world, viewer, "#harbour")
    await world.work()

    page = await world.feed.read(viewer, mode="following")

    shown = {entry.id: entry.follows_author for entry in page.entries}
    assert shown == {by_ana: True, by_bo: False, own: False}
    assert len(page.entries) == 3


async def test_hidden_people_stay_hidden_whatever_hashtag_they_use(world: World) -> None:
    ana, shy, loud, foe, viewer = await world.people("ana", "shy", "loud", "foe", "viewer")
    rooms = world.rooms
    await world.feed.follow_tag(viewer, "harbour")
    posts = {each: await publish(world, each, "#harbour") for each in (ana, shy, loud, foe)}
    await world.work()
    assert set(await world.read(viewer)) == set(posts.values())

    await world.sql(shy, f"UPDATE accounts SET is_private = true WHERE id = {shy}")
    await rooms.accounts.invalidate(shy)
    await rooms.graph.mute(viewer, loud, posts=True)
    await rooms.graph.block(foe, viewer)

    assert await world.read(viewer) == [posts[ana]]
    await rooms.posts.delete(posts[ana], by=ana)
    assert await world.read(viewer) == []


async def test_private_posts_do_not_enter_the_list_of_a_hashtag(world: World) -> None:
    ana, viewer, friend = await world.people("ana", "viewer", "friend")
    await world.feed.follow_tag(viewer, "harbour")
    await world.rooms.graph.follow(friend, ana)
    await world.read(viewer)
    await world.sql(ana, f"UPDATE accounts SET is_private = true WHERE id = {ana}")
    await world.rooms.accounts.invalidate(ana)

    post = await publish(world, ana, "#harbour")
    await world.work()

    [tag_list] = await tag_lists(world)
    assert str(post).encode() not in await world.rooms.redis.lrange(tag_list, 0, -1)
    assert await world.read(viewer) == []
    assert await world.read(friend) == [post]


async def test_an_edit_brings_a_post_under_a_hashtag_and_takes_it_away(world: World) -> None:
    ana, viewer = await world.people("ana", "viewer")
    await world.feed.follow_tag(viewer, "harbour")
    await world.read(viewer)
    post = await publish(world, ana, "plain")
    await world.work()

    await world.rooms.posts.edit(post, ana, PostChanges(caption="now #harbour"))
    await world.work()
    shown = await world.read(viewer)
    await world.rooms.posts.edit(post, ana, PostChanges(caption="plain again"))
    await world.work()

    assert shown == [post]
    assert await world.read(viewer) == []


async def test_a_busy_hashtag_brings_its_newest_posts_only(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tintype.feed.merged_timeline.TAG_POSTS", 3)
    ana, bo, viewer = await world.people("ana", "bo", "viewer")
    await world.rooms.graph.follow(viewer, bo)
    old = await publish(world, bo, "by a friend")
    await world.feed.follow_tag(viewer, "harbour")
    await world.read(viewer)
    posts = [await publish(world, ana, "#harbour") for _ in range(6)]
    await world.work()

    assert sorted(await world.read(viewer)) == sorted([old, *posts[-3:]])


async def test_lists_that_redis_has_lost_are_built_again_by_a_process_that_never_met_the_hashtag(
    world: World,
) -> None:
    ana, viewer = await world.people("ana", "viewer")
    post = await publish(world, ana, "#harbour")
    await world.feed.follow_tag(viewer, "harbour")
    assert await world.read(viewer) == [post]

    world.feed.tags._names.clear()
    for key in await tag_lists(world):
        await world.rooms.redis.delete(key)
    world.clock.now += 10

    assert await world.read(viewer) == [post]


@pytest.mark.parametrize("tag", ["", "#", "two words", "123", "a" * 101, "semi;colon", "nul\0"])
async def test_what_is_no_hashtag_cannot_be_followed(world: World, tag: str) -> None:
    [viewer] = await world.people("viewer")

    with pytest.raises(TagInvalid):
        await world.feed.follow_tag(viewer, tag)


async def test_so_many_hashtags_can_be_followed(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(followed_tags, "MAX_TAGS", 2)
    [viewer] = await world.people("viewer")
    for tag in ("one", "two", "two"):
        await world.feed.follow_tag(viewer, tag)

    with pytest.raises(TooManyTags):
        await world.feed.follow_tag(viewer, "three")

    await world.feed.unfollow_tag(viewer, "one")
    await world.feed.follow_tag(viewer, "three")
    assert await world.feed.tags.list_of(viewer) == ["three", "two"]


async def test_the_page_of_a_hashtag_says_whether_one_follows_it(
    rooms: Rooms, client: AsyncClient, ana: Person
) -> None:
    bo = await join(client, "bo")
    made = await ana.publish("Dawn at the #Harbour")
    await rooms.search.index_post(PostId(int(made["post_id"])), AccountId(int(ana.account_id)))

    before = (await bo.call("GET", "/tags/harbour")).json()
    followed = await bo.call("PUT", "/tags/Harbour/follow")
    after = (await bo.call("GET", "/tags/harbour")).json()
    listed = (await bo.call("GET", "/followed-tags")).json()
    guest = (await client.get("/api/v1/tags/harbour")).json()
    post = (await bo.feed())["posts"][0]
    ended = await bo.call("DELETE", "/tags/harbour/follow")

    assert (followed.status_code, ended.status_code) == (204, 204)
    assert [each["viewer_follows"] for each in (before, after, guest)] == [False, True, False]
    assert listed == {"tags": ["harbour"]}
    assert (post["post_id"], post["viewer_follows_author"]) == (made["post_id"], False)
    assert (await bo.feed())["posts"] == []
