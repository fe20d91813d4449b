"""Helpers for tests of ranking: rank posts, and run its event handlers without a worker."""

import time
from collections.abc import Sequence
from typing import Any

from tests.support import Person
from tintype.base.ids import AccountId, PostId
from tintype.posts import PostLiked
from tintype.ranking import Explanation
from tintype.saves import PostSaved
from tintype.wiring import Rooms


def id_of(person: Person) -> AccountId:
    return AccountId(int(person.account_id))


def post_of(post: dict[str, Any]) -> PostId:
    return PostId(int(post["post_id"]))


def change(rooms: Rooms, number: int = 0) -> int:
    """A change id of just now; a larger number is later."""
    layout = rooms.shards.map.layout
    return layout.compose(int(time.time() * 1000) - layout.epoch_ms, 1, number)


def like(
    post: dict[str, Any], author: Person, by: Person, number: int, *, is_liked: bool = True
) -> PostLiked:
    return PostLiked(post_of(post), id_of(author), id_of(by), number, is_liked)


def save(post: dict[str, Any], by: Person, number: int, *, is_saved: bool = True) -> PostSaved:
    return PostSaved(post_of(post), id_of(by), number, is_saved)


async def handle(rooms: Rooms, *events: Any) -> None:
    """Run ranking's handlers of these events, as the worker would."""
    for event in events:
        for handler in rooms.ranking.handlers():
            if isinstance(event, handler.event):
                await handler.run(event)


async def order(rooms: Rooms, viewer: Person, posts: Sequence[dict[str, Any]]) -> list[str]:
    """The posts, best first."""
    rooms.ranking.feature_store.evict_all()
    ranked = await rooms.ranking.rank(
        id_of(viewer),
        [post_of(each) for each in posts],
        await rooms.ranking.get_viewer_features(id_of(viewer)),
    )
    await rooms.ranking.close()
    return [str(each.post_id) for each in ranked]


async def signals(rooms: Rooms, viewer: Person, post: dict[str, Any]) -> dict[str, float]:
    """The features of a post for a viewer."""
    return {each.name: each.value for each in (await explanation(rooms, viewer, post)).signals}


async def explanation(rooms: Rooms, viewer: Person, post: dict[str, Any]) -> Explanation:
    rooms.ranking.feature_store.evict_all()
    explained = await rooms.ranking.explain(
        id_of(viewer), [post_of(post)], await rooms.ranking.get_viewer_features(id_of(viewer))
    )
    return explained[post_of(post)]
