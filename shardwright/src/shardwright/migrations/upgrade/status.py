"""Which version of the library's own SQL the directory, every server and every shard has."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import asyncpg

from shardwright.errors import ServerUnavailable, SetupInvalid
from shardwright.ids import shard_number
from shardwright.migrations.connections import (
    CONNECTION_ERRORS,
    Connection,
    fetch_rows,
    in_parallel,
    open_connection,
)
from shardwright.migrations.upgrade.steps import Release
from shardwright.topology import (
    DIRECTORY_SCHEMA,
    LIBRARY_SCHEMA,
    Directory,
    Server,
    ShardMap,
    read_library_versions,
    refuse_newer,
    server_sql,
)

# Every shard whose schema is here: also copies that a move left behind, which must go on refusing writes.
_SHARDS = r"""
SELECT n.nspname AS schema FROM pg_catalog.pg_namespace n
WHERE n.nspname ~ '^s[0-9]{4}$'
  AND EXISTS (SELECT FROM pg_catalog.pg_proc p WHERE p.pronamespace = n.oid AND p.proname = 'guard')
  AND EXISTS (SELECT FROM pg_catalog.pg_class c WHERE c.relnamespace = n.oid AND c.relname = 'ids' AND c.relkind = 'S')
ORDER BY n.nspname
"""
_OWNERS = """
SELECT n.nspname AS schema, n.nspowner::regrole::text AS owner, current_user AS role
FROM pg_catalog.pg_namespace n
WHERE n.nspname = ANY ($1::text[]) AND NOT pg_catalog.pg_has_role(n.nspowner, 'MEMBER') ORDER BY n.nspname LIMIT 1
"""
_BODIES = """
SELECT p.prosrc FROM pg_catalog.pg_proc p WHERE p.pronamespace = 'shardwright'::pg_catalog.regnamespace
"""
_BODY = re.compile(r"AS (\$\w*\$)(.*?)\1", re.DOTALL)


@dataclass(frozen=True)
class ServerLibrary:
    """The library's SQL on one server: the server's own version and that of every shard which is there."""

    name: str
    version: int
    shards: Mapping[int, int]
    owned: frozenset[int] = frozenset()
    """Those of the shards that the map says are here."""
    is_replaced: bool = False
    """Whether functions are not those of the version: an older release's `init` ran after the upgrade."""
    forbidden: str | None = None
    """Why the role that signs in may not change it, if it may not."""


@dataclass(frozen=True)
class LibraryStatus:
    """The library's SQL of an installation, compared with what this release creates."""

    release: Release
    directory: int
    servers: Sequence[ServerLibrary]
    unreachable: Mapping[str, str] = field(default_factory=dict[str, str])
    forbidden: str | None = None

    @property
    def newest(self) -> int:
        """The highest version found anywhere."""
        return max([self.directory, *(version for each in self.servers for version in _versions(each))])

    @property
    def is_directory_behind(self) -> bool:
        """Whether the directory has to be brought forward."""
        return self.directory < self.release.version

    def is_behind(self, server: ServerLibrary) -> bool:
        """Whether a server's own SQL has to be brought forward, or put back."""
        return server.version < self.release.version or server.is_replaced

    def shards_behind(self, server: ServerLibrary) -> list[int]:
        """The shards of a server that have to be brought forward, copies that moves left behind last."""
        behind = [number for number, version in server.shards.items() if version < self.release.version]
        return sorted(behind, key=lambda number: (number not in server.owned, number))

    @property
    def behind(self) -> int:
        """How many directories, servers and shards have to be brought forward."""
        servers = sum(self.is_behind(each) + len(self.shards_behind(each)) for each in self.servers)
        return self.is_directory_behind + servers

    def findings(self) -> list[str]:
        """One line for everything that is behind or newer, without what to do about it."""
        wanted = self.release.version
        versions = [(self.directory, "the directory has")]
        for each in self.servers:
            versions.append((each.version, f"server {each.name} has"))
            for version, count in sorted(Counter(each.shards.values()).items()):
                shards = "1 shard" if count == 1 else f"{count} shards"
                versions.append(
                    (version, f"{shards} on server {each.name} {'has' if count == 1 else 'have'}")
                )
        return [
            *(
                f"{what} version {version} of shardwright's own SQL, not {wanted}"
                for version, what in versions
                if version != wanted
            ),
            *(
                f"an older release has replaced functions of shardwright on server {each.name}"
                for each in self.servers
                if each.is_replaced
            ),
        ]

    @property
    def advice(self) -> str:
        """The command that brings everything to one version."""
        if self.newest > self.release.version:
            return "upgrade the package: pip install --upgrade shardwright"
        return "run shardwright upgrade"

    def check(self) -> None:
        """Raise when an upgrade is impossible: something is newer, does not answer, or belongs to another role."""
        refuse_newer("the directory", self.directory, self.release.version)
        for each in self.servers:
            refuse_newer(f"server {each.name}", each.version, self.release.version)
            newest = max(each.shards.values(), default=each.version)
            refuse_newer(f"a shard on server {each.name}", newest, self.release.version)
        if self.unreachable:
            raise ServerUnavailable("nothing was upgraded: " + "\n".join(self.unreachable.values()))
        for reason in [self.forbidden, *(each.forbidden for each in self.servers)]:
            if reason is not None and self.behind:
                raise SetupInvalid(f"nothing was upgraded: {reason}")


async def read_library_status(directory: Directory, release: Release | None = None) -> LibraryStatus:
    """Query the directory and all servers in parallel; servers that do not answer are listed as unreachable."""
    shard_map = await directory.load()
    async with directory.connect() as connection:
        version = (await read_library_versions(connection, [DIRECTORY_SCHEMA]))[DIRECTORY_SCHEMA]
        forbidden = await _find_forbidden(connection, [DIRECTORY_SCHEMA], "the directory")
    unreachable: dict[str, str] = {}
    wanted = release or Release()

    async def read(server: Server) -> ServerLibrary | None:
        try:
            async with open_connection(server) as connection:
                return await _read_server(connection, server.name, shard_map, wanted)
        except ServerUnavailable as error:
            unreachable[server.name] = str(error)
        except (asyncpg.PostgresError, *CONNECTION_ERRORS) as error:
            unreachable[server.name] = f"server {server.name}: {error or type(error).__name__}"
        return None

    found = await in_parallel(read(server) for _, server in sorted(shard_map.servers.items()))
    servers = [each for each in found if each is not None]
    return LibraryStatus(wanted, version, servers, unreachable, forbidden)


async def _read_server(
    connection: Connection, name: str, shard_map: ShardMap, wanted: Release
) -> ServerLibrary:
    identity = await fetch_rows(connection, "SELECT server_name FROM shardwright.identity")
    if [row["server_name"] for row in identity] != [name]:
        raise ServerUnavailable(f"the address of server {name} leads to the database of another server")
    schemas = [row["schema"] for row in await fetch_rows(connection, _SHARDS)]
    versions = await read_library_versions(connection, [LIBRARY_SCHEMA, *schemas])
    bodies = {row["prosrc"] for row in await fetch_rows(connection, _BODIES)}
    is_replaced = any(body not in bodies for _, body in _BODY.findall(server_sql(shard_map.layout)))
    return ServerLibrary(
        name,
        versions[LIBRARY_SCHEMA],
        {shard_number(schema): versions[schema] for schema in schemas},
        owned=frozenset(shard_map.shards_on(name)),
        is_replaced=is_replaced and versions[LIBRARY_SCHEMA] == wanted.version,
        forbidden=await _find_forbidden(connection, [LIBRARY_SCHEMA, *schemas], f"server {name}"),
    )


async def _find_forbidden(connection: Connection, schemas: Sequence[str], where: str) -> str | None:
    for row in await fetch_rows(connection, _OWNERS, list(schemas)):
        return (
            f"the role {row['role']} that signs in to {where} may not change the schema {row['schema']}, which belongs "
            f"to {row['owner']}: sign in as the migrator"
        )
    return None


def _versions(server: ServerLibrary) -> list[int]:
    return [server.version, *server.shards.values()]
