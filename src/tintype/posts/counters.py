"""The counters of the posts room that the reconciler compares with the rows they count: likes and posts."""

from tintype.accounts import POST_COUNT, StoredCount
from tintype.base.counter_reconciler import ReconciledCounter
from tintype.base.ids import AccountId, PostId
from tintype.posts.dependencies import PostsDependencies
from tintype.posts.post_cache import PostCache
from tintype.posts.store import QUERIES

COMMENT_COUNT = StoredCount(QUERIES.lock_counts, QUERIES.set_comment_count)
"""The count that posts store for the comments room."""


def reconciled_counters(dependencies: PostsDependencies, cache: PostCache) -> list[ReconciledCounter]:
    """Likes of each post, stored with the post; posts of each author, stored with the account."""

    async def invalidate_post(post_id: int) -> None:
        await cache.invalidate_counts(PostId(post_id))

    async def invalidate_author(account_id: int) -> None:
        await dependencies.accounts.invalidate_counts(AccountId(account_id))

    return [
        ReconciledCounter(
            "likes",
            QUERIES.scan_like_counts,
            QUERIES.lock_counts,
            QUERIES.recount_likes,
            QUERIES.set_like_count,
            find_unsettled=dependencies.like_counters.find_unsettled,
            on_repaired=invalidate_post,
        ),
        ReconciledCounter(
            "posts",
            QUERIES.scan_post_counts,
            POST_COUNT.lock,
            QUERIES.recount_posts,
            POST_COUNT.store,
            on_repaired=invalidate_author,
        ),
    ]
