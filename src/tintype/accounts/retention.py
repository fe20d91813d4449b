"""Removal of expired sessions, devices, mails, challenges and invitations."""

from shardwright.routing import Shards
from tintype.accounts.store import QUERIES

EXPIRING = (
    QUERIES.purge_sessions,
    QUERIES.purge_devices,
    QUERIES.purge_mails,
    QUERIES.purge_challenges,
    QUERIES.purge_invitations,
    QUERIES.purge_unused_claims,
)


async def purge_expired(shards: Shards) -> None:
    """Delete what has expired, one batch per shard and run."""
    for query in EXPIRING:
        await shards.everywhere().execute(query)
