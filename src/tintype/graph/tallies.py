"""How the counts of followers and followees are checked against the rows."""

from collections.abc import Awaitable, Callable
from pathlib import Path

from shardwright.running import Queries
from tintype.base.tallies import Tally

QUERIES = Queries.load(Path(__file__).with_name("tallies.sql"))


def graph_tallies(repaired: Callable[[int], Awaitable[None]]) -> list[Tally]:
    """The two counts of the graph; `repaired` is told of each account that was put right."""
    return [
        Tally(
            "followers",
            QUERIES.scan_followers,
            QUERIES.lock_counted,
            QUERIES.recount_followers,
            QUERIES.store_followers,
            repaired=repaired,
        ),
        Tally(
            "following",
            QUERIES.scan_following,
            QUERIES.lock_counted,
            QUERIES.recount_following,
            QUERIES.store_following,
            repaired=repaired,
        ),
    ]
