"""Hydrated posts: entries of the feed, together with the objects they were made of."""

from collections.abc import Mapping, Sequence

import msgspec

from tintype.accounts import Account
from tintype.base.ids import AccountId, PostId
from tintype.feed.viewer_state import ViewerState
from tintype.posts import Post, PostCounts, as_seen

NO_COUNTS = PostCounts(0, 0, 0, 0)


class FeedEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A post as the reader of a feed gets it."""

    cached_post: Post
    """The post as it is to everybody; the same object as long as it has not changed."""
    author: Account
    people: Mapping[AccountId, Account]
    """The author and those tagged and mentioned whom the viewer may see, along with those of the page's other posts."""
    people_ids: tuple[AccountId, ...]
    """The author and everybody tagged and mentioned."""
    counts: PostCounts
    """The counts as they are to everybody; the same object as long as they have not changed."""
    like_count: int | None
    comment_count: int
    has_liked: bool = False
    has_saved: bool = False
    follows_author: bool = False

    @property
    def id(self) -> PostId:
        """The post's id."""
        return self.cached_post.id

    @property
    def post(self) -> Post:
        """The post as the viewer sees it."""
        return as_seen(self.cached_post, self.like_count, self.comment_count, has_liked=self.has_liked)


class Hydrated(msgspec.Struct, frozen=True):
    """Hydrated posts, and the objects they were made of: while all of those are cached, the entries are current."""

    entries: list[FeedEntry]
    viewer_state: ViewerState
    ids: Sequence[PostId] = ()
    posts: Sequence[Post | None] = ()
    counts: Sequence[PostCounts | None] = ()
    accounts: Mapping[AccountId, Account] = {}
    has_no_deltas: bool = True
    """No buffered likes were added to the counts."""

    def joined_with(self, entries: Mapping[PostId, FeedEntry], order: Sequence[PostId]) -> "Hydrated":
        """These posts and entries of the last page that are current for the same state of the viewer, in this order."""
        made = {each.id: each for each in self.entries}
        made.update(entries)
        reused = entries.values()
        accounts = {each: entry.people[each] for entry in reused for each in entry.people_ids}
        accounts.update(self.accounts)
        return Hydrated(
            [made[each] for each in dict.fromkeys(order) if each in made],
            self.viewer_state,
            [*self.ids, *entries],
            [*self.posts, *(each.cached_post for each in reused)],
            [*self.counts, *(each.counts for each in reused)],
            accounts,
            self.has_no_deltas,
        )
