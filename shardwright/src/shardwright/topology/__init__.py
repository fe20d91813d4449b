"""Shard topology: a versioned shard map in a directory database, and guards on the servers that enforce it."""

from shardwright.topology.address_answers import TIMELINE_COLUMNS
from shardwright.topology.connections import ANY_HOST, PRIMARY, fetch_rows, fetch_value, open_connection
from shardwright.topology.directory import Directory
from shardwright.topology.directory_tables import LOAD_MAP_SQL, NO_TABLES, install_directory_sql, map_from_row
from shardwright.topology.directory_tables import LOCK as DIRECTORY_LOCK
from shardwright.topology.directory_tables import SCHEMA as DIRECTORY_SCHEMA
from shardwright.topology.guard_events import guard_events_sql, has_guard_events, install_guard_events
from shardwright.topology.guards import (
    SQLSTATE_NOT_OWNER,
    fenced_shards,
    guard_function_sql,
    guard_sql,
    guard_tables,
    guard_tables_sql,
    is_owned,
    is_owned_sql,
    owned_numbers,
    set_owned,
)
from shardwright.topology.host_list import split_hosts, split_url
from shardwright.topology.library_version import (
    LIBRARY_SCHEMA,
    LIBRARY_VERSION,
    read_library_versions,
    refuse_newer,
    version_sql,
)
from shardwright.topology.map_file import MapFile
from shardwright.topology.map_watcher import MapWatcher
from shardwright.topology.placement import Placer
from shardwright.topology.postgres_version import MIN_POSTGRESQL
from shardwright.topology.primary_address import (
    PrimaryAddress,
    is_read_only,
    locate_primary,
    open_primary,
    with_primaries,
)
from shardwright.topology.replica_addresses import replica_dsn
from shardwright.topology.role_grants import restrict_writes_sql
from shardwright.topology.roles import RoleSet, RolesReport, ensure_roles, missing_roles
from shardwright.topology.shard_creation import LOCK as SERVER_LOCK
from shardwright.topology.shard_creation import (
    Prepare,
    Progress,
    creation_sql,
    install_server_sql,
    server_sql,
)
from shardwright.topology.shard_map import ANY_OTHER, Server, ShardMap, hash_key, search_path
from shardwright.topology.unguarded_tables import UnguardedTable, attach_guards, find_unguarded

__all__ = [
    "ANY_HOST",
    "ANY_OTHER",
    "DIRECTORY_LOCK",
    "DIRECTORY_SCHEMA",
    "LIBRARY_SCHEMA",
    "LIBRARY_VERSION",
    "LOAD_MAP_SQL",
    "MIN_POSTGRESQL",
    "NO_TABLES",
    "PRIMARY",
    "SERVER_LOCK",
    "SQLSTATE_NOT_OWNER",
    "TIMELINE_COLUMNS",
    "Directory",
    "MapFile",
    "MapWatcher",
    "Placer",
    "Prepare",
    "PrimaryAddress",
    "Progress",
    "RoleSet",
    "RolesReport",
    "Server",
    "ShardMap",
    "UnguardedTable",
    "attach_guards",
    "creation_sql",
    "ensure_roles",
    "fenced_shards",
    "fetch_rows",
    "fetch_value",
    "find_unguarded",
    "guard_events_sql",
    "guard_function_sql",
    "guard_sql",
    "guard_tables",
    "guard_tables_sql",
    "has_guard_events",
    "hash_key",
    "install_directory_sql",
    "install_guard_events",
    "install_server_sql",
    "is_owned",
    "is_owned_sql",
    "is_read_only",
    "locate_primary",
    "map_from_row",
    "missing_roles",
    "open_connection",
    "open_primary",
    "owned_numbers",
    "read_library_versions",
    "refuse_newer",
    "replica_dsn",
    "restrict_writes_sql",
    "search_path",
    "server_sql",
    "set_owned",
    "split_hosts",
    "split_url",
    "version_sql",
    "with_primaries",
]
