"""The role set of an installation: an owner, a migrator, a runtime role without DDL, and a reader.

- The owner owns every schema and table, and nobody signs in as it.
- The migrator signs in, and each of its sessions becomes the owner: whatever it creates is the owner's.
- The runtime role reads and writes rows, draws ids and calls functions. It creates, alters and owns nothing.
- The reader reads.

Default privileges of the owner extend this to every shard, table and partition that is created later. The library's
own tables (the shard map, schema versions) are written by the owner alone; see `restrict_writes_sql`.
"""

import asyncio
import base64
import hashlib
import hmac
import os
import random
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import asyncpg

from shardwright.errors import SetupInvalid
from shardwright.topology.connections import fetch_rows, fetch_value, open_connection
from shardwright.topology.guard_events import install_guard_events
from shardwright.topology.role_grants import (
    backend_size_sql,
    default_privileges_sql,
    needs_grants,
    privileges_sql,
    schema_grants_sql,
)

if TYPE_CHECKING:
    from asyncpg import Connection

T = TypeVar("T")
DEFAULT_PREFIX = "shardwright"
_PREFIX = re.compile(r"[a-z][a-z0-9_]{0,40}")
_DEFAULT_ITERATIONS = 4096
_ATTEMPTS = 20
_LOCK_TIMEOUT = "5s"
# Roles belong to the whole server, which has no lock for them: set-ups of two databases may meet.
_MET_ANOTHER = (
    asyncpg.DuplicateObjectError,
    asyncpg.UniqueViolationError,
    asyncpg.InternalServerError,  # "tuple concurrently updated"
    asyncpg.LockNotAvailableError,
    asyncpg.DeadlockDetectedError,
)
_POWERS = ("rolsuper", "rolcreaterole", "rolcreatedb", "rolreplication", "rolbypassrls")


@dataclass(frozen=True)
class RoleSet:
    """The names of the four roles, which begin alike."""

    prefix: str = DEFAULT_PREFIX

    def __post_init__(self) -> None:
        if not _PREFIX.fullmatch(self.prefix):
            raise SetupInvalid(
                f"a prefix of roles has lower-case letters, digits and underscores, not {self.prefix!r}"
            )

    @property
    def owner(self) -> str:
        """Owns every schema, table and function; cannot sign in."""
        return f"{self.prefix}_owner"

    @property
    def migrator(self) -> str:
        """Signs in and becomes the owner: for migrations and new shards."""
        return f"{self.prefix}_migrator"

    @property
    def runtime(self) -> str:
        """The application: rows, ids and functions, no DDL."""
        return f"{self.prefix}_runtime"

    @property
    def reader(self) -> str:
        """Reads everything, writes nothing."""
        return f"{self.prefix}_reader"

    @property
    def logins(self) -> tuple[str, str, str]:
        """The roles that sign in."""
        return self.migrator, self.runtime, self.reader


@dataclass(frozen=True)
class RolesReport:
    """What `ensure_roles` did to one database."""

    created: tuple[str, ...]
    """Roles that the server did not have."""
    adopted: tuple[str, ...]
    """Schemas whose objects were given to the owner, or whose privileges were completed."""


async def ensure_roles(dsn: str, roles: RoleSet, passwords: Mapping[str, str]) -> RolesReport:
    """Create the roles of one database and give it to them; safe to repeat and to interrupt.

    `dsn` signs in as a superuser, or as a role with CREATEROLE that owns the database and what is in it. `passwords`
    holds those to set, by role name; a role that exists and is not in it keeps its own. What another role owns in
    the schemas of shardwright becomes the owner's, schema by schema.
    """
    conn = await open_connection(dsn, "the database")
    try:
        created = await _retry(conn, lambda: _ensure_logins(conn, roles, passwords))
        await _retry(conn, lambda: _ensure_privileges(conn, roles))
        adopted = await needs_grants(conn, roles)
        for schema in adopted:
            await _retry(conn, lambda schema=schema: conn.execute(schema_grants_sql(schema, roles)))
        await _retry(conn, lambda: install_guard_events(conn))  # the migrator, who creates shards, may not
    finally:
        await conn.close()
    return RolesReport(tuple(created), tuple(adopted))


async def missing_roles(dsn: str, roles: RoleSet) -> list[str]:
    """The roles that sign in and that the server does not have yet."""
    conn = await open_connection(dsn, "the database")
    try:
        found = await fetch_rows(
            conn, "SELECT rolname FROM pg_roles WHERE rolname = ANY($1)", [*roles.logins]
        )
    finally:
        await conn.close()
    return [name for name in roles.logins if name not in {row["rolname"] for row in found}]


async def _retry(conn: "Connection", step: Callable[[], Awaitable[T]]) -> T:
    """Run a step in a transaction, again when a concurrent set-up or a busy table was in the way."""
    for attempt in range(1, _ATTEMPTS):
        try:
            return await _in_transaction(conn, step)
        except _MET_ANOTHER:
            await asyncio.sleep(random.uniform(0.01, 0.1) * attempt)  # noqa: S311 - spread, not secrecy
    return await _in_transaction(conn, step)


async def _in_transaction(conn: "Connection", step: Callable[[], Awaitable[T]]) -> T:
    async with conn.transaction():
        await conn.execute(f"SET LOCAL lock_timeout = '{_LOCK_TIMEOUT}'")
        return await step()


async def _ensure_logins(conn: "Connection", roles: RoleSet, passwords: Mapping[str, str]) -> list[str]:
    names = [roles.owner, *roles.logins]
    columns = ", ".join(_POWERS)
    found = await fetch_rows(
        conn,
        f"SELECT rolname, {columns} FROM pg_roles WHERE rolname = ANY($1)",  # noqa: S608 - constants of the library
        names,
    )
    if strong := [row["rolname"] for row in found if any(row[power] for power in _POWERS)]:
        raise SetupInvalid(
            f"the role {strong[0]} exists and has more rights than it may: choose another prefix, or take them away"
        )
    created = [name for name in names if name not in {row["rolname"] for row in found}]
    for name in created:
        await conn.execute(f"CREATE ROLE {name} {'NOLOGIN' if name == roles.owner else 'LOGIN'}")
    await conn.execute(f"GRANT {roles.owner} TO {roles.migrator}")
    await conn.execute(f"ALTER ROLE {roles.migrator} SET role = '{roles.owner}'")
    iterations = await fetch_value(conn, "SELECT current_setting('scram_iterations', true)")
    for name in roles.logins:
        if name in passwords:
            verifier = scram_verifier(passwords[name], int(iterations or _DEFAULT_ITERATIONS))
            await conn.execute(f"ALTER ROLE {name} PASSWORD '{verifier}'")
    return created


async def _ensure_privileges(conn: "Connection", roles: RoleSet) -> None:
    database, is_superuser = (
        await fetch_rows(
            conn,
            "SELECT quote_ident(current_database()), rolsuper FROM pg_roles WHERE rolname = current_user",
        )
    )[0]
    if not is_superuser:  # to set default privileges and to hand objects over, one has to be a member
        await conn.execute(f"GRANT {roles.owner} TO CURRENT_USER")
    else:  # only a superuser may give a function of the system away
        await conn.execute(backend_size_sql(roles))
    await conn.execute(privileges_sql(database, roles) + default_privileges_sql(roles))
    if not await fetch_value(
        conn, "SELECT has_database_privilege($1, current_database(), 'CREATE')", roles.owner
    ):
        raise SetupInvalid(
            f"only the owner of the database {database} or a superuser can give it to these roles"
        )


def scram_verifier(password: str, iterations: int = _DEFAULT_ITERATIONS) -> str:
    """What PostgreSQL stores of a password, so that the password itself is never in a statement or a log."""
    salt = os.urandom(16)
    salted = hashlib.pbkdf2_hmac("sha256", password.encode(), salt, iterations)
    stored = hashlib.sha256(hmac.digest(salted, b"Client Key", "sha256")).digest()
    server = hmac.digest(salted, b"Server Key", "sha256")
    texts = [base64.b64encode(each).decode() for each in (salt, stored, server)]
    return f"SCRAM-SHA-256${iterations}:{texts[0]}${texts[1]}:{texts[2]}"
