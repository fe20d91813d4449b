import pytest

from shardwright.migrations import check_snapshot, lint
from shardwright.routing import Query
from tests.support import on_server
from tintype.base.settings import Settings
from tintype.schema import MIGRATIONS, SCHEMA_FILE
from tintype.wiring import QUERIES, Rooms
from tintype.worker import connect_to_server, store

EVERY_QUERY = [query for room in QUERIES for query in room]
RELAY_STATEMENTS = [text for name, text in vars(store).items() if name.isupper()]


@pytest.mark.slow
async def test_schema_sql_equals_all_migrations_replayed(settings: Settings) -> None:
    # When this fails: with `./tintype up` running, ./tintype shards schema > src/tintype/schema/schema.sql
    await check_snapshot(MIGRATIONS, settings.postgres_admin[0], SCHEMA_FILE)

    assert "CREATE TABLE posts" in SCHEMA_FILE.read_text()


def test_the_linter_finds_nothing_in_our_migrations() -> None:
    assert lint(MIGRATIONS) == []


@pytest.mark.parametrize("query", EVERY_QUERY, ids=lambda query: query.name)
async def test_every_named_query_can_be_planned(opened_rooms: Rooms, query: Query) -> None:
    async with opened_rooms.shards.shard(0).begin() as tx:
        # `execute` sends it as text, the only way to leave placeholders without values.
        status = await tx.connection.execute(f"EXPLAIN (GENERIC_PLAN) {query.sql}")

    assert status == "EXPLAIN"
    assert query.comment, f"{query.name} has no comment that says why"


@pytest.mark.parametrize("statement", RELAY_STATEMENTS, ids=lambda text: text.split()[0])
async def test_every_statement_of_the_relay_can_be_planned(opened_rooms: Rooms, statement: str) -> None:
    async with connect_to_server(opened_rooms.settings.postgres[0]) as connection:
        assert await connection.execute(f"EXPLAIN (GENERIC_PLAN) {statement}") == "EXPLAIN"


async def test_claiming_unrelayed_events_uses_the_partial_index(rooms: Rooms) -> None:
    """Relayed events stay for an hour; the relay's query, once a second, must not scan them."""
    plan = await on_server(
        rooms.settings.postgres_admin[0],
        "INSERT INTO common.outbox (event, payload, stream_seq) SELECT 'x', '', n FROM generate_series(1, 5000) AS n",
        "ANALYZE common.outbox",
        f"EXPLAIN {store.CLAIM.replace('$1', '500')}",
    )

    assert "outbox_waiting" in "\n".join(str(row[0]) for row in plan)
