"""Follower and followee counts, compared with the rows they count (`base/counter_reconciler.py`)."""

from collections.abc import Awaitable, Callable

from tintype.accounts import FOLLOWER_COUNT, FOLLOWING_COUNT
from tintype.base.counter_reconciler import ReconciledCounter
from tintype.graph.store import QUERIES


def reconciled_counters(on_repaired: Callable[[int], Awaitable[None]]) -> list[ReconciledCounter]:
    """The two counts of the graph; `on_repaired` is called with each account whose count was corrected."""
    return [
        ReconciledCounter(
            "followers",
            QUERIES.scan_followers,
            FOLLOWER_COUNT.lock,
            QUERIES.recount_followers,
            FOLLOWER_COUNT.store,
            on_repaired=on_repaired,
        ),
        ReconciledCounter(
            "following",
            QUERIES.scan_following,
            FOLLOWING_COUNT.lock,
            QUERIES.recount_following,
            FOLLOWING_COUNT.store,
            on_repaired=on_repaired,
        ),
    ]
