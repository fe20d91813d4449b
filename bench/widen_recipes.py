"""How integer keys are widened by hand: in place, and by the recipe that articles about it have in common.

The recipe adds bigint columns with triggers, fills them in batches, indexes them concurrently, adds foreign keys
NOT VALID, validates them, and exchanges the columns in one transaction. Every statement that locks a table against its
readers is timed from the moment it has the lock.
"""

import asyncio
import time
from collections.abc import Sequence
from typing import Any, cast

import asyncpg

COLUMNS = {"people": ["id"], "posts": ["id", "person_id"], "likes": ["post_id", "person_id"]}
BATCH = 10_000
IN_PLACE = [
    "ALTER TABLE people ALTER COLUMN id TYPE bigint",
    "ALTER TABLE posts ALTER COLUMN id TYPE bigint, ALTER COLUMN person_id TYPE bigint",
    "ALTER TABLE likes ALTER COLUMN post_id TYPE bigint, ALTER COLUMN person_id TYPE bigint",
]
INDEXES = [
    "CREATE UNIQUE INDEX CONCURRENTLY people_new ON people (id_new)",
    "CREATE UNIQUE INDEX CONCURRENTLY posts_new ON posts (id_new)",
    "CREATE INDEX CONCURRENTLY posts_person_new ON posts (person_id_new)",
    "CREATE UNIQUE INDEX CONCURRENTLY likes_new ON likes (post_id_new, person_id_new)",
    "CREATE INDEX CONCURRENTLY likes_person_new ON likes (person_id_new)",
]
FOREIGN_KEYS = [
    ("posts", "posts_person_new", "person_id_new", "people"),
    ("likes", "likes_post_new", "post_id_new", "posts"),
    ("likes", "likes_person_new", "person_id_new", "people"),
]
KEYS = {"people": "people_new", "posts": "posts_new", "likes": "likes_new"}
EXCHANGE = [
    *(
        f"DROP TRIGGER {table}_widen ON {table}; ALTER TABLE {table} DROP CONSTRAINT {table}_pkey CASCADE"
        for table in COLUMNS
    ),
    "ALTER SEQUENCE people_id_seq AS bigint; ALTER SEQUENCE posts_id_seq AS bigint",
    "ALTER SEQUENCE people_id_seq OWNED BY people.id_new; ALTER SEQUENCE posts_id_seq OWNED BY posts.id_new",
    *(f"ALTER TABLE {table} DROP COLUMN {column}" for table, own in COLUMNS.items() for column in own),
    *(
        f"ALTER TABLE {table} RENAME COLUMN {column}_new TO {column}"
        for table, own in COLUMNS.items()
        for column in own
    ),
    *(
        f"ALTER TABLE {table} ADD CONSTRAINT {table}_pkey PRIMARY KEY USING INDEX {KEYS[table]}"
        for table in COLUMNS
    ),
    "ALTER TABLE people ALTER id SET DEFAULT nextval('people_id_seq')",
    "ALTER TABLE posts ALTER id SET DEFAULT nextval('posts_id_seq')",
]


class LockTimes:
    """Runs statements on a connection, and keeps how long tables were locked."""

    def __init__(self, conn: Any) -> None:
        self._conn = conn
        self.longest_ms = 0.0

    async def run(self, tables: Sequence[str], statements: Sequence[str]) -> None:
        """Run statements in a transaction that locks these tables first."""
        async with self._conn.transaction():
            await self._conn.execute(f"LOCK TABLE {', '.join(tables)} IN ACCESS EXCLUSIVE MODE")
            locked_at = time.monotonic()
            for statement in statements:
                await self._conn.execute(statement)
        self.longest_ms = max(self.longest_ms, (time.monotonic() - locked_at) * 1_000)


async def widen_in_place(dsn: str, schema: str) -> float:
    """Change the types in one transaction; returns for how long tables were locked, in milliseconds."""
    conn = await _connect(dsn, schema)
    times = LockTimes(conn)
    await times.run(list(COLUMNS), IN_PLACE)
    await conn.close()
    return times.longest_ms


async def widen_by_hand(dsn: str, schema: str) -> float:
    """Follow the recipe; returns for how long tables were locked at most, in milliseconds."""
    conn = await _connect(dsn, schema)
    times = LockTimes(conn)
    for table, columns in COLUMNS.items():
        await times.run([table], list(_add_columns(table, columns)))
    for table, columns in COLUMNS.items():
        await _fill(conn, table, columns)
    for statement in INDEXES:
        await conn.execute(statement)
    for table, name, column, parent in FOREIGN_KEYS:
        add = f"ALTER TABLE {table} ADD CONSTRAINT {name} FOREIGN KEY ({column}) REFERENCES {parent} (id_new) NOT VALID"
        await times.run([parent, table], [add])
        await conn.execute(f"ALTER TABLE {table} VALIDATE CONSTRAINT {name}")
    await times.run(list(COLUMNS), EXCHANGE)
    await conn.close()
    return times.longest_ms


def _add_columns(table: str, columns: Sequence[str]) -> list[str]:
    copies = " ".join(f"NEW.{name}_new := NEW.{name};" for name in columns)
    times = "BEFORE INSERT OR UPDATE"
    return [
        *(f"ALTER TABLE {table} ADD COLUMN {name}_new bigint NOT NULL DEFAULT 0" for name in columns),
        f"CREATE FUNCTION {table}_widen() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN {copies} RETURN NEW; END'",
        f"CREATE TRIGGER {table}_widen {times} ON {table} FOR EACH ROW EXECUTE FUNCTION {table}_widen()",
    ]


async def _fill(conn: Any, table: str, columns: Sequence[str]) -> None:
    key = columns[0]
    values = ", ".join(f"{name}_new = {name}" for name in columns)
    highest = await conn.fetchval(f"SELECT coalesce(max({key}), 0) FROM {table}")
    for first in range(0, highest + 1, BATCH):
        condition = f"{key} >= {first} AND {key} < {first + BATCH}"
        await conn.execute(f"UPDATE {table} SET {values} WHERE {condition} AND {key}_new = 0")
        await asyncio.sleep(0.02)


async def _connect(dsn: str, schema: str) -> Any:
    return cast("Any", await asyncpg.connect(dsn, server_settings={"search_path": schema}))
