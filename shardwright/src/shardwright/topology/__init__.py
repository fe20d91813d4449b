"""Shard topology: a versioned shard map in a directory database, and guards on the servers that enforce it."""

from shardwright.topology.connections import fetch_rows, fetch_value, open_connection
from shardwright.topology.directory import Directory
from shardwright.topology.directory_tables import LOAD_MAP_SQL, NO_TABLES, map_from_row
from shardwright.topology.guards import (
    SQLSTATE_NOT_OWNER,
    guard_sql,
    guard_tables,
    guard_tables_sql,
    is_owned,
    is_owned_sql,
    set_owned,
)
from shardwright.topology.map_watcher import MapWatcher
from shardwright.topology.placement import Placer
from shardwright.topology.role_grants import restrict_writes_sql
from shardwright.topology.roles import RoleSet, RolesReport, ensure_roles, missing_roles
from shardwright.topology.shard_creation import Prepare, Progress, creation_sql
from shardwright.topology.shard_map import Server, ShardMap, hash_key, search_path

__all__ = [
    "LOAD_MAP_SQL",
    "NO_TABLES",
    "SQLSTATE_NOT_OWNER",
    "Directory",
    "MapWatcher",
    "Placer",
    "Prepare",
    "Progress",
    "RoleSet",
    "RolesReport",
    "Server",
    "ShardMap",
    "creation_sql",
    "ensure_roles",
    "fetch_rows",
    "fetch_value",
    "guard_sql",
    "guard_tables",
    "guard_tables_sql",
    "hash_key",
    "is_owned",
    "is_owned_sql",
    "map_from_row",
    "missing_roles",
    "open_connection",
    "restrict_writes_sql",
    "search_path",
    "set_owned",
]
