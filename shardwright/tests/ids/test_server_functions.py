"""SQL and Python decode ids alike."""

import random
from datetime import UTC, datetime, timedelta
from typing import cast

import asyncpg
import pytest
from id_test_shard import IdShard

from shardwright.errors import SetupInvalid
from shardwright.ids import LEGACY_LIMIT, MAX_ID, Layout, install_functions

SAMPLE = random.Random(42)  # noqa: S311 - examples, not secrets
IDS = [0, 1, LEGACY_LIMIT - 1, 1 << 32, MAX_ID, *(SAMPLE.randrange(1 << 32, MAX_ID) for _ in range(2000))]
MOMENTS = [
    datetime(1969, 7, 20, tzinfo=UTC),
    datetime(2024, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
    datetime(2025, 1, 1, tzinfo=UTC),
    datetime(2059, 11, 4, tzinfo=UTC),
    datetime(2400, 1, 1, tzinfo=UTC),
    *(
        datetime(2025, 1, 1, tzinfo=UTC) + timedelta(microseconds=SAMPLE.randrange(10**15))
        for _ in range(2000)
    ),
]


async def test_sql_and_python_decode_an_id_alike(id_shard: IdShard) -> None:
    rows = cast(
        "list[asyncpg.Record]",
        await id_shard.conn.fetch(
            "SELECT id, shardwright.id_time(id), shardwright.id_shard(id), shardwright.id_sequence(id)"
            " FROM unnest($1::bigint[]) AS id",
            IDS,
        ),
    )
    layout = id_shard.layout
    for row in rows:
        number = cast("int", row["id"])
        assert row["id_shard"] == layout.id_shard(number)
        assert row["id_sequence"] == layout.id_sequence(number)
        assert row["id_time"] == (None if number < LEGACY_LIMIT else layout.id_time(number))


async def test_sql_and_python_agree_on_the_smallest_id_of_a_time(id_shard: IdShard) -> None:
    bounds = await id_shard.ids(
        "SELECT shardwright.min_id_at(at) FROM unnest($1::timestamptz[]) AS at", MOMENTS
    )
    assert bounds == [id_shard.layout.min_id_at(moment) for moment in MOMENTS]


async def test_bounds_don_t_depend_on_the_session_s_time_zone(id_shard: IdShard) -> None:
    await id_shard.conn.execute("SET timezone = 'Asia/Kathmandu'")
    assert await id_shard.value("SHOW timezone") == "Asia/Kathmandu"
    await test_sql_and_python_agree_on_the_smallest_id_of_a_time(id_shard)


async def test_the_decoding_functions_can_be_indexed(id_shard: IdShard) -> None:
    await id_shard.conn.execute("""
        CREATE TABLE posts (id bigint PRIMARY KEY, published_at timestamptz);
        CREATE INDEX ON posts (shardwright.id_time(id), shardwright.id_shard(id));
        CREATE INDEX ON posts (shardwright.min_id_at(published_at));
    """)

    assert await id_shard.value("SELECT count(*) FROM pg_indexes WHERE tablename = 'posts'") == 3


async def test_another_epoch_is_refused_once_one_is_known(id_shard: IdShard) -> None:
    await install_functions(id_shard.conn, id_shard.layout)
    with pytest.raises(SetupInvalid, match="epoch cannot be changed"):
        await install_functions(id_shard.conn, Layout(1_600_000_000_000))
