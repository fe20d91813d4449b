"""psycopg 3 connections bound to a shard, for synchronous programs and for asyncio.

`SyncShards` and `AsyncShards` find shards as `Shards` does and hand out psycopg's own connections. The map is loaded
with psycopg too, so a synchronous program needs no event loop. Needs the extra `shardwright[psycopg]`.
"""

from shardwright.psycopg.async_shards import AsyncShard, AsyncShards
from shardwright.psycopg.connection import AsyncShardConnection, ShardConnection
from shardwright.psycopg.map_cache import MapCache, load_map, load_map_async
from shardwright.psycopg.server_connections import check_server, is_moved
from shardwright.psycopg.sync_shards import SyncShard, SyncShards

__all__ = [
    "AsyncShard",
    "AsyncShardConnection",
    "AsyncShards",
    "MapCache",
    "ShardConnection",
    "SyncShard",
    "SyncShards",
    "check_server",
    "is_moved",
    "load_map",
    "load_map_async",
]
