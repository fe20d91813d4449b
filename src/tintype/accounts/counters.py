"""The counts that accounts store for other rooms: posts, followers, followees.

The rows they count belong to those rooms, the columns belong to this one. A room that adds or removes rows changes
the count in its own transaction; the reconciler compares rows and count, and sets it where the two differ.
"""

from dataclasses import dataclass

from shardwright.routing import Query, Transaction
from tintype.accounts.store import QUERIES
from tintype.base.ids import AccountId


@dataclass(frozen=True)
class StoredCount:
    """How the reconciler locks the account of a count and overwrites the count (:id, :count)."""

    lock: Query
    store: Query


POST_COUNT = StoredCount(QUERIES.lock_counts, QUERIES.set_post_count)
FOLLOWER_COUNT = StoredCount(QUERIES.lock_counts, QUERIES.set_follower_count)
FOLLOWING_COUNT = StoredCount(QUERIES.lock_counts, QUERIES.set_following_count)


async def change_post_count(tx: Transaction, account_id: AccountId, by: int) -> None:
    """Add `by` posts to an account's count when this transaction commits."""
    await tx.execute(QUERIES.change_post_count, id=account_id, by=by)


async def change_follower_count(tx: Transaction, account_id: AccountId, by: int) -> None:
    """Add `by` followers to an account's count when this transaction commits."""
    await tx.execute(QUERIES.change_follower_count, id=account_id, by=by)


async def change_following_count(tx: Transaction, account_id: AccountId, by: int) -> None:
    """Add `by` followees to an account's count when this transaction commits."""
    await tx.execute(QUERIES.change_following_count, id=account_id, by=by)
