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


async def test_reading_new_events_does_not_scan_published_ones(rooms: Rooms) -> None:
    """Published events stay for an hour; the relay's read, once a second and after every poke, must not scan them."""
    found = await on_server(
        rooms.settings.postgres_admin[0],
        # The plan is made while the partitions are empty, and kept.
        *(["SELECT FROM common.read_outbox(500)"] * 10),
        "INSERT INTO common.outbox (event, payload) SELECT 'x', '' FROM generate_series(1, 5000) AS n",
        "UPDATE common.outbox_position SET done = pg_current_snapshot()",
        "INSERT INTO common.outbox (event, payload) VALUES ('y', '')",
        "SET track_functions = 'all'",
        "SELECT pg_stat_reset()",
        "SELECT event FROM common.read_outbox(500)",
        "SELECT pg_stat_force_next_flush()",
        "SELECT sum(seq_tup_read + idx_tup_fetch)::bigint AS touched FROM pg_stat_user_tables "
        "WHERE relname ~ '^outbox__'",
    )

    assert [row["event"] for row in found if "event" in row] == ["y"]
    assert found[-1]["touched"] < 50
