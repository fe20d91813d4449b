"""Entries of a reader's last page that are still current: a page with news differs from the last one by little.

By the rule of `redis/client_cache.py` an entry is what hydration would make again while the objects that it was made of
are the very ones in the client-side cache: post, counts, the accounts of author, tagged and mentioned people. Of the
viewer's state, whom they follow, mute and block is one object until any of it changes (`ViewerState.people`); whether
they like and have saved the post is compared. Posts of strangers, which are there for a hashtag, are made anew.
"""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from tintype.accounts import Account
from tintype.base.ids import AccountId, PostId
from tintype.feed.hydrated import FeedEntry, Hydrated
from tintype.feed.viewer_state import ViewerState
from tintype.posts import Post, PostCounts


class CachedObjects(msgspec.Struct, frozen=True):
    """What the client-side cache holds of posts, counts and accounts; None for what does not exist."""

    posts: Mapping[PostId, Post | None]
    counts: Mapping[PostId, PostCounts | None]
    accounts: Mapping[AccountId, Account | None]


def find_current(
    last: Iterable[Hydrated], ids: Sequence[PostId], state: ViewerState, cached: CachedObjects
) -> dict[PostId, FeedEntry]:
    """Those of the posts whose entries on the last page would be made again just as they are."""
    wanted, found = set(ids), dict[PostId, FeedEntry]()
    posts, counts, accounts = cached.posts, cached.counts, cached.accounts
    known, liked, saved = state.posts, state.liked, state.saved
    for hydrated in last:
        if hydrated.viewer_state.people is not state.people or not hydrated.has_no_deltas:
            continue
        for entry in hydrated.entries:
            post = entry.cached_post
            each = post.id
            if (
                each in wanted
                and (entry.follows_author or post.author_id == state.viewer)
                and posts.get(each) is post
                and counts.get(each) is entry.counts
                and accounts.get(post.author_id) is entry.author
                and each in known
                and (each in liked) is entry.has_liked
                and (each in saved) is entry.has_saved
                and (len(entry.people_ids) == 1 or _has_same_people(entry, accounts))
            ):
                found[each] = entry
    return found


def _has_same_people(entry: FeedEntry, accounts: Mapping[AccountId, Account | None]) -> bool:
    """Whether those tagged and mentioned are as they were; not where one of them could not be seen."""
    people = entry.people
    return all(each in people and accounts.get(each) is people[each] for each in entry.people_ids)
