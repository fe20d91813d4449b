"""The PostgreSQL roles of an installation, named after its namespace; see `shardwright.topology.roles`."""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import quote, unquote, urlsplit, urlunsplit

from shardwright.topology import RoleSet, ensure_roles, missing_roles
from tintype.base.errors import SettingsInvalid
from tintype.base.settings import Settings


@dataclass(frozen=True)
class DatabaseRoles:
    """The database roles after `ensure_database_roles`: how many schemas changed hands, and how to sign in."""

    adopted: int
    """Schemas that were handed over to the owner."""
    addresses: Mapping[str, Sequence[str]] = field(repr=False)
    """The databases by the name of the role that signs in, for roles whose password is known."""


async def ensure_database_roles(settings: Settings, *, reader_password: str = "") -> DatabaseRoles:
    """Create the roles of an installation and hand its databases over to them; safe to repeat.

    Passwords are those in the settings' own addresses; a role that no server has yet gets a generated one.
    """
    admin = settings.postgres_admin or settings.postgres
    if not admin:
        raise SettingsInvalid("Name the databases in postgres_admin, as a role that may create roles.")
    names = RoleSet(settings.namespace)
    passwords = await _choose_passwords(settings, names, admin)
    if reader_password:
        passwords[names.reader] = reader_password
    reports = [await ensure_roles(dsn, names, passwords) for dsn in admin if dsn]
    return DatabaseRoles(
        sum(len(report.adopted) for report in reports),
        {role: [as_role(dsn, role, passwords[role]) if dsn else "" for dsn in admin] for role in passwords},
    )


def as_role(dsn: str, role: str, password: str) -> str:
    """The address of the same database for another role."""
    parts = urlsplit(dsn)
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit(parts._replace(netloc=f"{role}:{quote(password, safe='')}@{host}"))


async def _choose_passwords(settings: Settings, names: RoleSet, admin: Sequence[str]) -> dict[str, str]:
    passwords: dict[str, str] = {}
    missing = [await missing_roles(dsn, names) for dsn in admin if dsn]
    for role, dsns in ((names.runtime, settings.postgres), (names.migrator, settings.postgres_migrator)):
        known = next((found for dsn in dsns if (found := _password(dsn, role))), "")
        lacking = [role in each for each in missing]
        if known:
            passwords[role] = known
        elif all(lacking):
            passwords[role] = secrets.token_urlsafe(24)
        elif any(lacking):
            raise SettingsInvalid(
                f"Some servers have the role {role} and others do not: give its password in the settings, in the "
                "addresses of `postgres` and `postgres_migrator`."
            )
    return passwords


def _password(dsn: str, role: str) -> str:
    """The password in an address, if it is this role's."""
    parts = urlsplit(dsn)
    return unquote(parts.password or "") if parts.username == role else ""
