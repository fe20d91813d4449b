"""How large a backend has become.

A PostgreSQL backend keeps what it has cached for as long as it lives, so a pool has to know when to replace one. A role
that may call `pg_get_backend_memory_contexts()` (`shardwright roles` grants it, it tells of the own session alone) asks
the backend itself; any other role goes by what the connection has done.
"""

from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from shardwright.routing.pooled_connection import PooledConnection

FUNCTION = "pg_catalog.pg_get_backend_memory_contexts()"
_MAY_ASK = f"SELECT has_function_privilege('{FUNCTION}', 'EXECUTE')"
_ASK = f"SELECT sum(total_bytes)::bigint FROM {FUNCTION}"  # noqa: S608 - a constant
TIMEOUT_S = 5.0
# Medians of backends with sixty tables per shard.
BASE_BYTES = 4 * 2**20
SHARD_BYTES = 300 * 2**10
STATEMENT_BYTES = 60 * 2**10


class BackendSizes:
    """Measures the backends of one pool's connections, or estimates them where that is not permitted."""

    def __init__(self) -> None:
        self._may_ask: bool | None = None

    async def read(self, pooled: "PooledConnection") -> int:
        """Memory of the connection's backend, in bytes, without what all backends share."""
        if self._may_ask is None:
            self._may_ask = cast("bool", await pooled.conn.fetchval(_MAY_ASK, timeout=TIMEOUT_S))
        if not self._may_ask:
            return estimate(pooled)
        return cast("int", await pooled.conn.fetchval(_ASK, timeout=TIMEOUT_S))


def estimate(pooled: "PooledConnection") -> int:
    """What the backend has probably cached, going by the shards it touched and the statements it prepared."""
    per_shard = SHARD_BYTES * len(pooled.shards_touched)
    return BASE_BYTES + per_shard + STATEMENT_BYTES * len(pooled.statements) + pooled.hot.size_bytes
