"""Leader election: a lease on one row, held by one worker at a time, that expires when its holder dies."""

from shardwright.routing import Shards
from tintype.base.store import QUERIES, SCHEDULES_KEY


class LeaderLease:
    """Leases by name. Expiry goes by the clock of the one server that stores them."""

    def __init__(self, shards: Shards) -> None:
        self._shards = shards

    async def acquire(self, name: str, holder: str, *, ttl_s: float) -> bool:
        """Become the holder or extend the lease; False while somebody else holds it."""
        shard = self._shards.of(SCHEDULES_KEY)
        row = await shard.fetch_one(QUERIES.acquire_lease, name=name, holder=holder, ttl_s=ttl_s)
        return row is not None

    async def release(self, name: str, holder: str) -> None:
        """End the lease now instead of at its expiry, if this holder has it."""
        shard = self._shards.of(SCHEDULES_KEY)
        await shard.execute(QUERIES.release_lease, name=name, holder=holder)
