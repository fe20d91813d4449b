"""The databases of a test process: copies of a pair that the first process of the run created, tables and all."""

import asyncio
import fcntl
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from tests.support import make_databases, on_server, with_roles
from tintype.base.settings import Settings
from tintype.schema import apply_schema

TEMPLATE = "tintype_template"
ROLE_PREFIX = "test"
"""How the roles of these databases begin. They belong to the servers, so the processes of a run share them."""
SHARDS = 8


class _Template(msgspec.Struct):
    postgres: tuple[str, ...]
    postgres_migrator: tuple[str, ...]


async def copy_template(settings: Settings, servers: Sequence[str], name: str, run_folder: Path) -> Settings:
    """The settings with databases of this name, which have all shards, tables, roles and functions."""
    with (run_folder / "template.lock").open("w") as lock:
        # One at a time: the roles are shared, and the first has to create the template.
        await asyncio.to_thread(fcntl.flock, lock, fcntl.LOCK_EX)
        known = run_folder / "template.json"
        if not known.exists():
            known.write_bytes(msgspec.json.encode(await _create(settings, servers)))
        template = msgspec.json.decode(known.read_bytes(), type=_Template)
        copied = msgspec.structs.replace(
            settings,
            namespace=ROLE_PREFIX,
            shard_count=SHARDS,
            postgres_admin=tuple(await make_databases(servers, name, template=TEMPLATE)),
            postgres=_in_database(template.postgres, name),
            postgres_migrator=_in_database(template.postgres_migrator, name),
        )
        copied = await with_roles(copied)  # a copy has everything but the privileges on the database itself
        await on_server(
            copied.postgres_admin[0],
            f"UPDATE shardwright_directory.servers SET dsn = regexp_replace(dsn, '/{TEMPLATE}$', '/{name}')",
        )
    return msgspec.structs.replace(copied, namespace=settings.namespace)


async def _create(settings: Settings, servers: Sequence[str]) -> _Template:
    admin = tuple(await make_databases(servers, TEMPLATE))
    made = msgspec.structs.replace(settings, namespace=ROLE_PREFIX, shard_count=SHARDS, postgres_admin=admin)
    made = await with_roles(made)
    await apply_schema(made)
    return _Template(made.postgres, made.postgres_migrator)


def _in_database(dsns: Sequence[str], name: str) -> tuple[str, ...]:
    return tuple(urlsplit(dsn)._replace(path=f"/{name}").geturl() for dsn in dsns)
