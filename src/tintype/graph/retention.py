"""Removal of the traces of ended follows and blocks."""

from datetime import UTC, datetime, timedelta

from shardwright.routing import Shards
from tintype.base.log import get_log
from tintype.graph.store import QUERIES

KEEP_ENDED = timedelta(days=7)
"""How long the trace of an ended follow or block is kept, so that late events are recognised as late."""
log = get_log("graph")


async def sweep_ended(shards: Shards) -> None:
    """Delete the traces of follows and blocks that ended too long ago for any event about them to be in flight."""
    before = shards.map.layout.min_id_at(datetime.now(UTC) - KEEP_ENDED)
    for query in (QUERIES.sweep_followers, QUERIES.sweep_blocked_by):
        (await shards.everywhere().execute(query, before=before)).complete()
    log.info("traces.swept")
