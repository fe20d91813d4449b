"""Targets of migrations: a shard's schema, or the schema `common` of a server."""

from __future__ import annotations

from dataclasses import dataclass

from shardwright.ids import schema_name
from shardwright.migrations.files import Folder, Kind, Migration
from shardwright.topology import ShardMap, guard_tables_sql

COMMON_SCHEMA = "common"
LIBRARY_SCHEMA = "shardwright"


@dataclass(frozen=True)
class Target:
    """A schema with its own version: a shard, or the server itself when there is no number."""

    server: str
    number: int | None = None

    @property
    def kind(self) -> Kind:
        """Which of the folder's two kinds of migrations apply."""
        return "server" if self.number is None else "shard"

    @property
    def schema(self) -> str:
        """The schema that the migrations change."""
        return COMMON_SCHEMA if self.number is None else schema_name(self.number)

    @property
    def lock_number(self) -> int:
        """The number that identifies the target in advisory locks."""
        return -1 if self.number is None else self.number

    @property
    def search_path(self) -> str:
        """The search_path for migrations; `public` comes last, for the types of extensions."""
        path = dict.fromkeys([self.schema, COMMON_SCHEMA, LIBRARY_SCHEMA, "public"])
        return ", ".join(path)

    def migrations(self, folder: Folder) -> tuple[Migration, ...]:
        """The target's migrations, in order."""
        return folder.of(self.kind)

    def guard_sql(self) -> str:
        """The statement that attaches guards to new tables of a shard; empty for a server's own tables."""
        return "" if self.number is None else guard_tables_sql(self.number)

    def __str__(self) -> str:
        return f"{self.schema} on {self.server}"


def all_targets(shard_map: ShardMap) -> list[Target]:
    """All targets, servers first: shards may depend on them."""
    servers = [Target(name) for name in sorted(shard_map.servers)]
    return [*servers, *(Target(owner, number) for number, owner in sorted(shard_map.owners.items()))]
