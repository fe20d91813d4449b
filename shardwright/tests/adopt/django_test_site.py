"""Django's own applications (auth, admin, sessions, …), migrated and filled by Django, and clients that use them."""

import asyncio
import json
import sys
from dataclasses import dataclass
from urllib.parse import urlsplit

import asyncpg
from adopt_test_site import WRITERS, Act, Writer

from shardwright.ids import schema_name
from shardwright.topology import fetch_rows, fetch_value, guard_tables, open_connection

FOLLOWERS = ("auth_user", "auth_user_groups", "auth_user_user_permissions", "django_admin_log")
LOOKUPS = ("auth_group", "auth_group_permissions", "auth_permission", "django_content_type")
NARROW = tuple(f"{table}.id" for table in FOLLOWERS)
"""Django gives the keys of its own applications four bytes."""
USERS = 40
_MIGRATE = """
import json, sys
import django
from django.conf import settings
from django.core.management import call_command

apps = ("contenttypes", "auth", "sessions", "admin", "sites", "flatpages", "redirects")
settings.configure(
    DATABASES={"default": {"ENGINE": "django.db.backends.postgresql"} | json.loads(sys.argv[1])},
    INSTALLED_APPS=[f"django.contrib.{app}" for app in apps], SITE_ID=1, USE_TZ=True,
)
django.setup()
call_command("migrate", verbosity=0)

from django.contrib.admin.models import ADDITION, LogEntry
from django.contrib.auth.models import Group, Permission, User
from django.contrib.contenttypes.models import ContentType

users = User.objects.bulk_create(User(username=f"user {n}", password="!") for n in range(int(sys.argv[2])))
groups = Group.objects.bulk_create(Group(name=f"group {n}") for n in range(5))
kind = ContentType.objects.get_for_model(User)
for user in users:
    user.groups.add(groups[user.pk % 5])
    user.user_permissions.add(Permission.objects.all()[user.pk % 5])
LogEntry.objects.bulk_create(
    LogEntry(user_id=user.pk, content_type=kind, object_id=str(n), object_repr="é" * 50, action_flag=ADDITION)
    for n, user in enumerate(users * 20)
)
"""
_COLUMNS = """
SELECT string_agg(format('%I %s%s%s', attname, format_type(atttypid, atttypmod),
  CASE WHEN attnotnull THEN ' NOT NULL' END, CASE WHEN attidentity <> '' THEN ' DEFAULT {0}.next_id()' END), ', '
  ORDER BY attnum) FROM pg_attribute WHERE attrelid = $1::text::regclass AND attnum > 0 AND NOT attisdropped
"""
_CONSTRAINTS = """
SELECT format('ALTER TABLE {0}.%I ADD %s', $1::text, pg_get_constraintdef(oid)) AS sql FROM pg_constraint
WHERE conrelid = $1::text::regclass AND (contype IN ('p', 'u', 'c')
  OR (contype = 'f' AND confrelid::regclass::text = 'auth_user')) ORDER BY contype DESC
"""


async def make_site(dsn: str) -> None:
    """Have Django make its tables and fill them."""
    address = urlsplit(dsn)
    database = {
        "HOST": address.hostname,
        "PORT": address.port,
        "USER": address.username,
        "PASSWORD": address.password or "",
        "NAME": address.path.lstrip("/"),
    }
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-c", _MIGRATE, json.dumps(database), str(USERS)
    )
    assert await child.wait() == 0


@dataclass(frozen=True)
class ShardTables:
    """The statements that make the tables of a site in a shard, from its definitions in the old database."""

    columns: dict[str, str]
    constraints: tuple[str, ...]
    lookups: tuple[str, ...]

    async def make(self, conn: asyncpg.Connection, number: int) -> None:
        """Make the tables in one shard, and its server's lookup tables."""
        schema = schema_name(number)
        async with conn.transaction():
            for table, columns in self.columns.items():
                await conn.execute(f"CREATE TABLE {schema}.{table} ({columns.format(schema)})")
            await conn.execute(f"SET LOCAL search_path = {schema}")
            for statement in self.constraints:
                await conn.execute(statement.format(schema))
            for statement in self.lookups:
                await conn.execute(statement)
        await guard_tables(conn, number)


async def read_tables(dsn: str) -> ShardTables:
    """Read how Django made the tables."""
    conn = await open_connection(dsn, "old")
    try:
        columns = {table: await fetch_value(conn, _COLUMNS, table) for table in FOLLOWERS}
        constraints = [
            row["sql"] for table in FOLLOWERS for row in await fetch_rows(conn, _CONSTRAINTS, table)
        ]
        lookups = [
            f"CREATE TABLE IF NOT EXISTS common.{table} "
            f"({(await fetch_value(conn, _COLUMNS, table)).replace(' DEFAULT {0}.next_id()', '')}, PRIMARY KEY (id))"
            for table in LOOKUPS
        ]
    finally:
        await conn.close()
    return ShardTables(columns, tuple(constraints), tuple(lookups))


class SiteWriter(Writer):
    """A client of the site: people log in, change groups, and leave entries in the admin's log."""

    async def open(self) -> None:
        await super().open()
        rows = await fetch_rows(self.conns[""], "SELECT id FROM auth_user ORDER BY id")
        self.users = [row["id"] for row in rows if row["id"] % WRITERS == self.number]
        self.kind = await fetch_value(self.conns[""], "SELECT min(id) FROM django_content_type")
        self.groups = await fetch_value(self.conns[""], "SELECT array_agg(id) FROM auth_group")

    def choices(self) -> list[Act]:
        acts: list[Act] = [self.log, self.log, self.log, self.log_in, self.regroup, self.erase]
        return acts if self.is_in_shards else [*acts, self.sign_up]

    async def log(self, conn: asyncpg.Connection, user: int) -> None:
        sql = (
            "INSERT INTO django_admin_log (action_time, user_id, content_type_id, object_repr, action_flag, "
            "change_message) VALUES (now(), $1, $2, $3, 1, '') RETURNING id"
        )
        shown = f"entry {self.random.random():.9f}"
        number = await fetch_value(conn, sql, user, self.kind, shown)
        self.orders[number] = {"customer_id": user, "status": shown}

    async def erase(self, conn: asyncpg.Connection, user: int) -> None:
        if (number := self._own(user)) is not None:
            await conn.execute("DELETE FROM django_admin_log WHERE id = $1", number)
            del self.orders[number]

    async def log_in(self, conn: asyncpg.Connection, user: int) -> None:
        await conn.execute("UPDATE auth_user SET last_login = now() WHERE id = $1", user)

    async def regroup(self, conn: asyncpg.Connection, user: int) -> None:
        await conn.execute("DELETE FROM auth_user_groups WHERE user_id = $1", user)
        group = self.random.choice(self.groups)
        await conn.execute("INSERT INTO auth_user_groups (user_id, group_id) VALUES ($1, $2)", user, group)

    async def sign_up(self, conn: asyncpg.Connection, _user: int) -> None:
        await conn.execute(
            "INSERT INTO auth_user (password, is_superuser, username, first_name, last_name, email, is_staff, "
            "is_active, date_joined) VALUES ('!', false, $1, '', '', '', false, true, now())",
            f"new {self.number} {self.random.random()}",
        )
