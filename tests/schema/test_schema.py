import pytest

from shardwright.migrating import check_snapshot, lint
from shardwright.running import Query
from tests.support import on_server
from tintype.base.settings import Settings, directory_dsn
from tintype.schema import MIGRATIONS, SCHEMA_FILE
from tintype.wiring import QUERIES, Rooms
from tintype.worker import sql
from tintype.worker.databases import connected

EVERY_QUERY = [query for room in QUERIES for query in room]
RELAY_STATEMENTS = [text for name, text in vars(sql).items() if name.isupper()]


async def test_schema_sql_equals_all_migrations_replayed(settings: Settings) -> None:
    # When this fails: with `./tintype up` running, ./tintype shards schema > src/tintype/schema/schema.sql
    await check_snapshot(MIGRATIONS, directory_dsn(settings), SCHEMA_FILE)

    assert "CREATE TABLE posts" in SCHEMA_FILE.read_text()


def test_the_linter_finds_nothing_in_our_migrations() -> None:
    assert lint(MIGRATIONS) == []


@pytest.mark.parametrize("query", EVERY_QUERY, ids=lambda query: query.name)
async def test_every_named_query_can_be_planned(rooms: Rooms, query: Query) -> None:
    async with rooms.shards.shard(0).begin() as tx:
        # `execute` sends it as text, which alone lets placeholders stand without values.
        status = await tx.connection.execute(f"EXPLAIN (GENERIC_PLAN) {query.sql}")

    assert status == "EXPLAIN"
    assert query.comment, f"{query.name} has no comment that says why"


@pytest.mark.parametrize("statement", RELAY_STATEMENTS, ids=lambda text: text.split()[0])
async def test_every_statement_of_the_relay_can_be_planned(rooms: Rooms, statement: str) -> None:
    async with connected(rooms.settings.postgres[0]) as connection:
        assert await connection.execute(f"EXPLAIN (GENERIC_PLAN) {statement}") == "EXPLAIN"


async def test_looking_for_waiting_events_reads_the_small_index(rooms: Rooms) -> None:
    """What is relayed stays for an hour; the relay's look once a second must not wade through it."""
    plan = await on_server(
        rooms.settings.postgres[0],
        "INSERT INTO common.outbox (event, payload, stream_seq) SELECT 'x', '', n FROM generate_series(1, 5000) AS n",
        "ANALYZE common.outbox",
        f"EXPLAIN {sql.CLAIM.replace('$1', '500')}",
    )

    assert "outbox_waiting" in "\n".join(str(row[0]) for row in plan)
