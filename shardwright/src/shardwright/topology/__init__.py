"""Which server owns which shard: a versioned map in a directory database, and guards that enforce it."""

from shardwright.topology.connections import fetch_rows, fetch_value, open_connection
from shardwright.topology.creating import Prepare, Progress, creation_sql
from shardwright.topology.directory import Directory
from shardwright.topology.guards import (
    SQLSTATE_NOT_OWNER,
    guard_sql,
    guard_tables,
    guard_tables_sql,
    is_owned,
    set_owned,
)
from shardwright.topology.maps import Server, ShardMap, hash_key
from shardwright.topology.placing import Placer
from shardwright.topology.watching import Watch

__all__ = [
    "SQLSTATE_NOT_OWNER",
    "Directory",
    "Placer",
    "Prepare",
    "Progress",
    "Server",
    "ShardMap",
    "Watch",
    "creation_sql",
    "fetch_rows",
    "fetch_value",
    "guard_sql",
    "guard_tables",
    "guard_tables_sql",
    "hash_key",
    "is_owned",
    "open_connection",
    "set_owned",
]
