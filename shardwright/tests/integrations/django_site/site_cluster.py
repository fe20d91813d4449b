"""What the tests of the Django site share."""

from dataclasses import dataclass
from types import ModuleType
from typing import Any

from shardwright.topology import Directory, creation_sql, guard_tables, open_connection, set_owned


@dataclass
class Site:
    """The site's directory and servers, and its application."""

    dsns: dict[str, str]
    models: ModuleType

    @property
    def directory_dsn(self) -> str:
        return self.dsns["a"]

    def setting(self, **more: Any) -> dict[str, Any]:
        return {"DIRECTORY": self.directory_dsn, "APPS": ["photos"], "CONN_MAX_AGE": 60, **more}


async def move_shard(site: Site, number: int) -> None:
    """Move a shard without its rows to the other server; whoever has the old map hears nothing of it."""
    directory = await Directory.open(site.directory_dsn)
    current = await directory.load()
    source = current.server_of(number).name
    target = {"a": "b", "b": "a"}[source]
    schema = f"s{number:04d}"
    old = await open_connection(site.dsns[source], source)
    new = await open_connection(site.dsns[target], target)
    await set_owned(old, number, owned=False)
    await new.execute(f"DROP SCHEMA IF EXISTS {schema} CASCADE; {creation_sql(number, current.layout)}")
    await new.execute(
        f"CREATE TABLE {schema}.photos_author (id bigint PRIMARY KEY DEFAULT {schema}.next_id(), "
        "username text UNIQUE, joined_at timestamptz)"
    )
    await guard_tables(new, number)
    await directory.change(current.version, lambda map_: map_.with_owner(target, number))
    for each in (old, new, directory):
        await each.close()
