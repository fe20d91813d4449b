"""SQLAlchemy engines bound to a shard, synchronous and for asyncio.

There is one engine, with one pool, per server; a shard's engine is a view of it. Each transaction brings the shard's
search_path in the round trip of its BEGIN, for Core, ORM and textual SQL alike. Needs the extra
`shardwright[sqlalchemy]`.
"""

from shardwright.sqlalchemy.async_engines import AsyncShardEngines
from shardwright.sqlalchemy.engines import ShardEngines
from shardwright.sqlalchemy.events import shard_of_engine

__all__ = ["AsyncShardEngines", "ShardEngines", "shard_of_engine"]
