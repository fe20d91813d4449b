"""The old copy of a moved shard cannot be read: routers with a stale map read at the new owner."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

import asyncpg
import psycopg
import pytest
from sqlalchemy import text

from shardwright.errors import NotOwner
from shardwright.moves import Move, Mover
from shardwright.moves.read_fence import Usage, read_usage
from shardwright.psycopg import AsyncShards, SyncShards
from shardwright.routing import ANY, PoolOptions, Queries, Shards
from shardwright.sqlalchemy import AsyncShardEngines, ShardEngines
from shardwright.topology import Directory, RoleSet, ensure_roles, open_connection

pytestmark = pytest.mark.slow

SHARD = 1
POST = (1 << 62) + (SHARD << 10)
ROLES = RoleSet("fenced_reads")
QUERIES = Queries.parse("""
-- name: find
SELECT caption FROM posts WHERE author_id = :author_id;
-- name: find_hot hot
SELECT caption FROM posts WHERE author_id = :author_id;
-- name: like writes
UPDATE posts SET likes = likes + 1 WHERE author_id = 7 RETURNING likes;
-- name: likes hot
SELECT likes FROM posts WHERE author_id = 7;
-- name: lock
SELECT likes FROM posts WHERE author_id = 7 FOR UPDATE;
-- name: find_many
SELECT caption FROM posts WHERE id = ANY(:ids);
""")
OPTIONS = PoolOptions(poll_s=3600)
Read = Callable[[Shards], Coroutine[Any, Any, Any]]


@pytest.fixture
async def runtime_dsns(dsns: dict[str, str]) -> dict[str, str]:
    """The databases as the application's own role."""
    for dsn in dsns.values():
        await ensure_roles(dsn, ROLES, dict.fromkeys(ROLES.logins, "secret"))
    return {
        name: f"postgresql://{ROLES.runtime}:secret@{dsn.rpartition('@')[2]}" for name, dsn in dsns.items()
    }


@pytest.fixture
async def conns(dsns: dict[str, str], runtime_dsns: dict[str, str]) -> AsyncIterator[dict[str, Any]]:
    """A superuser's connection to each server, when the roles are there."""
    found = {name: await open_connection(dsn, name) for name, dsn in dsns.items()}
    yield found
    for conn in found.values():
        await conn.close()


async def open_stale(runtime_dsns: dict[str, str]) -> Shards:
    """A router that hears of no new map."""
    shards = await Shards.open(runtime_dsns["a"], queries=[QUERIES], dsns=runtime_dsns, options=OPTIONS)
    await shards._directory.close()
    return shards


async def change_at_the_new_owner(conns: dict[str, Any], move: Move) -> None:
    """What a reader of the old copy would not see: that no longer follows."""
    await conns["b"].execute(f"ALTER SUBSCRIPTION {move.reverse_link} DISABLE")
    await conns["a"].execute("UPDATE s0001.posts SET caption = 'new' WHERE author_id = 7")


async def in_transaction(shards: Shards) -> Any:
    return await shards.shard(SHARD).transact(lambda inner: inner.fetch_value(QUERIES.find_hot, author_id=7))


async def in_gather(shards: Shards) -> Any:
    of_another_shard = POST + ((3 - SHARD) << 10)
    found = await shards.gather(QUERIES.find_many, [of_another_shard, POST])
    assert found.is_complete
    return found.rows[0]["caption"]


async def everywhere(shards: Shards) -> Any:
    found = await shards.everywhere().fetch(QUERIES.find, author_id=7)
    assert found.is_complete
    return next(row["caption"] for row in found if row["shard_number"] == SHARD)


async def with_raw_sql(shards: Shards) -> Any:
    return await shards.shard(SHARD).raw.fetch_value("SELECT caption FROM posts WHERE author_id = $1", 7)


READS: dict[str, Read] = {
    "function": lambda shards: shards.shard(SHARD).fetch_value(QUERIES.find, author_id=7),
    "hot": lambda shards: shards.shard(SHARD).fetch_value(QUERIES.find_hot, author_id=7),
    "any replica": lambda shards: shards.read(ANY).shard(SHARD).fetch_value(QUERIES.find, author_id=7),
    "transaction": in_transaction,
    "gather": in_gather,
    "everywhere": everywhere,
    "raw": with_raw_sql,
}


async def test_every_read_of_a_router_with_a_stale_map_is_answered_by_the_new_owner(
    mover: Mover, runtime_dsns: dict[str, str], conns: dict[str, Any]
) -> None:
    await conns["b"].execute(
        "DELETE FROM s0001.posts WHERE author_id = 7;"
        f"INSERT INTO s0001.posts (id, author_id, caption) VALUES ({POST}, 7, 's0001 7')"
    )
    stale = {name: await open_stale(runtime_dsns) for name in READS}
    for name, shards in stale.items():
        for _ in range(2):
            assert await READS[name](shards) == "s0001 7"

    await change_at_the_new_owner(conns, await mover.start([SHARD], "a"))

    for name, shards in stale.items():
        assert shards.shard(SHARD).server == "b"
        assert (name, await READS[name](shards)) == (name, "new")
        assert shards.shard(SHARD).server == "a"
        await shards.close()


async def test_no_read_is_older_than_an_acknowledged_write_while_shards_move(
    mover: Mover, runtime_dsns: dict[str, str]
) -> None:
    writer = await Shards.open(runtime_dsns["a"], queries=[QUERIES], dsns=runtime_dsns, options=OPTIONS)
    readers = [await open_stale(runtime_dsns) for _ in range(2)]
    acknowledged, reads, older, is_over = 0, 0, list[tuple[int, int]](), False

    async def write() -> None:
        nonlocal acknowledged
        while not is_over:
            acknowledged = await writer.shard(SHARD).fetch_value(QUERIES.like)

    async def read(reader: Shards) -> None:
        nonlocal reads
        while not is_over:
            before = acknowledged
            found = await reader.shard(SHARD).fetch_value(QUERIES.likes)
            reads += 1
            if found < before:
                older.append((found, before))

    async with asyncio.TaskGroup() as group:
        for work in (write(), *map(read, readers)):
            group.create_task(work)
        try:
            move = await mover.start([SHARD], "a")
            for _ in range(3):
                move = await mover.back(move.id)
        finally:
            is_over = True

    assert older == []
    assert reads > 100
    for shards in (writer, *readers):
        await shards.close()


async def test_a_transaction_that_was_refused_goes_on_at_the_new_owner(
    mover: Mover, runtime_dsns: dict[str, str], conns: dict[str, Any]
) -> None:
    move = await mover.start([SHARD], "a")
    stale = await open_stale(runtime_dsns)
    told: list[str] = []

    async def note(server: str) -> None:
        told.append(server)

    async with stale.shard(SHARD).begin() as transaction:
        likes = await transaction.fetch_value(QUERIES.lock)
        transaction.after_commit(note)
        await mover.back(move.id)
        assert await transaction.fetch_value(QUERIES.like) == likes + 1

    assert told == [stale.shard(SHARD).server] == ["b"]
    assert await conns["b"].fetchval("SELECT likes FROM s0001.posts WHERE author_id = 7") == likes + 1
    await stale.close()


async def test_a_transaction_whose_rows_have_changed_since_is_not_continued_at_the_new_owner(
    mover: Mover, runtime_dsns: dict[str, str], conns: dict[str, Any]
) -> None:
    stale = await open_stale(runtime_dsns)
    likes = await conns["b"].fetchval("SELECT likes FROM s0001.posts WHERE author_id = 7")

    with pytest.raises(NotOwner, match="rows have changed"):
        async with stale.shard(SHARD).begin() as transaction:
            assert await transaction.fetch_value(QUERIES.likes) == likes
            await mover.start([SHARD], "a")
            await conns["a"].execute("UPDATE s0001.posts SET likes = likes + 5 WHERE author_id = 7")
            await transaction.fetch_value(QUERIES.like)

    assert await conns["a"].fetchval("SELECT likes FROM s0001.posts WHERE author_id = 7") == likes + 5
    await stale.close()


async def test_transactions_wait_while_shards_move_and_none_is_refused(
    mover: Mover, runtime_dsns: dict[str, str]
) -> None:
    shards = await Shards.open(runtime_dsns["a"], queries=[QUERIES], dsns=runtime_dsns, options=OPTIONS)
    likes, is_over = 0, False

    async def lock_and_like() -> None:
        nonlocal likes
        while not is_over:
            async with shards.shard(SHARD).begin() as transaction:
                before = await transaction.fetch_value(QUERIES.lock)
                assert await transaction.fetch_value(QUERIES.like) == before + 1
            likes += 1

    async with asyncio.TaskGroup() as group:
        group.create_task(lock_and_like())  # alone: of several that want one row, all but one find it changed
        try:
            move = await mover.start([SHARD], "a")
            for _ in range(5):
                move = await mover.back(move.id)
        finally:
            is_over = True

    assert await shards.shard(SHARD).fetch_value(QUERIES.likes) == likes > 20
    await shards.close()


async def test_integrations_with_a_stale_map_read_at_the_new_owner(
    mover: Mover, runtime_dsns: dict[str, str], conns: dict[str, Any]
) -> None:
    sql, address = "SELECT caption FROM posts WHERE author_id = 7", runtime_dsns["a"]
    shards = SyncShards.open(address, dsns=runtime_dsns, max_age_s=3600)
    async_shards = await AsyncShards.open(address, dsns=runtime_dsns, max_age_s=3600)
    engines = ShardEngines.open(address, dsns=runtime_dsns, max_age_s=3600)
    async_engines = await AsyncShardEngines.open(address, dsns=runtime_dsns, max_age_s=3600)

    async def read_async(conn: Any) -> Any:
        return await (await conn.execute(sql)).fetchone()

    async def read_engine(conn: Any) -> Any:
        return (await conn.execute(text(sql))).one()

    async def read() -> list[tuple[Any, ...]]:
        found: list[Any] = [
            await asyncio.to_thread(
                shards.shard(SHARD).transact, lambda conn: conn.execute(sql.encode()).fetchone()
            ),
            await async_shards.shard(SHARD).transact(read_async),
            await asyncio.to_thread(
                engines.transact, lambda own: own.shard(SHARD), lambda conn: conn.execute(text(sql)).one()
            ),
            await async_engines.transact(lambda own: own.shard(SHARD), read_engine),
        ]
        return [tuple(row) for row in found]

    assert await read() == [("s0001 7",)] * 4
    with pytest.raises(psycopg.errors.UndefinedTable), shards.shard(SHARD).begin() as conn:
        conn.execute("SELECT FROM nothing_like_it")

    await change_at_the_new_owner(conns, await mover.start([SHARD], "a"))

    with pytest.raises(NotOwner, match="repeat the transaction"), shards.shard(SHARD).begin() as conn:
        conn.execute(sql.encode())
    assert await read() == [("new",)] * 4
    shards.close()
    await async_shards.close()
    engines.dispose()
    await async_engines.dispose()


async def test_privileges_come_back_with_the_shard_and_its_old_copies_follow_meanwhile(
    mover: Mover, runtime_dsns: dict[str, str], conns: dict[str, Any], dsns: dict[str, str]
) -> None:
    await conns["b"].execute(f"GRANT USAGE ON SCHEMA s0001 TO {ROLES.reader} WITH GRANT OPTION")
    before = await read_usage(conns["b"], ["s0001"])
    assert Usage("s0001", is_grantable=True, grantee=ROLES.reader) in before

    move = await mover.start([SHARD], "a")

    assert await read_usage(conns["a"], ["s0001"]) == before
    assert await read_usage(conns["b"], ["s0001"]) == []
    await ensure_roles(dsns["b"], ROLES, {})
    await mover.tend()
    assert await read_usage(conns["b"], ["s0001"]) == []
    await conns["a"].execute(
        f"SET ROLE {ROLES.owner}; CREATE TABLE s0001.visits__2 PARTITION OF s0001.visits FOR VALUES FROM (2) TO (3);"
        "RESET ROLE; INSERT INTO s0001.visits VALUES (2, 1);"
        "INSERT INTO s0001.posts (author_id, caption) VALUES (777, 'x')"
    )
    back = await mover.back(move.id)
    assert back.details["verified_rows"] > move.details["verified_rows"]
    assert await read_usage(conns["b"], ["s0001"]) == before
    assert await read_usage(conns["a"], ["s0001"]) == []
    async with await Shards.open(runtime_dsns["a"], dsns=runtime_dsns, options=OPTIONS) as shards:
        assert await shards.shard(SHARD).fetch_value(QUERIES.find_hot, author_id=777) == "x"


async def test_a_read_waits_for_the_map_while_neither_copy_may_answer(
    mover: Mover, runtime_dsns: dict[str, str], conns: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    shards = await open_stale(runtime_dsns)
    reads: list[asyncio.Task[Any]] = []
    assert await READS["hot"](shards) == "s0001 7"
    set_owner = Directory.set_owner

    async def read_first(*args: Any) -> Any:
        reads.extend(asyncio.create_task(READS[name](shards)) for name in ("hot", "raw", "everywhere"))
        errors = shards.counts["b"].errors
        async with asyncio.timeout(30):
            while errors["42501"] < 2 or errors["42P01"] < 1:  # noqa: ASYNC110 - another server is waited for
                await asyncio.sleep(0.01)
        assert not any(read.done() for read in reads)
        return await set_owner(*args)

    monkeypatch.setattr(Directory, "set_owner", read_first)
    await mover.start([SHARD], "a")

    assert await asyncio.gather(*reads) == ["s0001 7"] * 3
    await shards.close()


async def test_a_missing_privilege_is_no_move(runtime_dsns: dict[str, str], conns: dict[str, Any]) -> None:
    await conns["b"].execute(f"REVOKE SELECT ON s0001.posts FROM {ROLES.runtime}")
    async with await Shards.open(runtime_dsns["a"], dsns=runtime_dsns, options=OPTIONS) as shards:
        for read in (READS["function"], READS["hot"], READS["transaction"], READS["raw"]):
            with pytest.raises(asyncpg.InsufficientPrivilegeError, match="permission denied for table posts"):
                await read(shards)
