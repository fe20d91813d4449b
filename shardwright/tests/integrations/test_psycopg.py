"""psycopg connections bound to a shard."""

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from routing_test_cluster import Cluster

from shardwright.errors import InvalidId, NotOwner, ServerUnavailable, SetupInvalid
from shardwright.psycopg import AsyncShards, SyncShards, load_map
from shardwright.topology import Directory, RoleSet, Server, ensure_roles

ADD = "INSERT INTO posts (author_id, caption) VALUES (1, %s) RETURNING id"
CAPTIONS = "SELECT caption FROM posts ORDER BY id"


@pytest.fixture
def shards(own_cluster: Cluster) -> Iterator[SyncShards]:
    with SyncShards.open(own_cluster.directory_dsn, not_owner_wait_s=0.5) as shards:
        yield shards


async def move(cluster: Cluster, number: int) -> None:
    """Move an empty shard to the other server; whoever has the old map hears nothing of it."""
    source = (await cluster.directory.load()).server_of(number).name
    target = {"a": "b", "b": "a"}[source]
    await cluster.prepare_move(number, target)
    await cluster.set_owned(source, number, owned=False)
    await cluster.set_owned(target, number, owned=True)
    await cluster.flip_map(number, target)


def one(conn: psycopg.Connection[tuple[object, ...]], sql: str) -> object:
    row = conn.execute(sql.encode()).fetchone()
    assert row is not None
    return row[0]


async def test_the_map_is_loaded_without_an_event_loop(own_cluster: Cluster) -> None:
    assert load_map(own_cluster.directory_dsn) == await own_cluster.directory.load()


def test_a_connection_is_bound_to_the_shard_of_an_id_a_key_or_a_number(shards: SyncShards) -> None:
    for shard in (shards.shard(3), shards.of("ana"), shards.place()):
        with shard.connect() as conn:
            row = conn.execute(ADD, ("bound",)).fetchone()
        assert row is not None
        assert shards.owner(row[0]).number == shard.number
        with shards.owner(row[0]).begin() as conn:
            assert one(conn, "SELECT current_schema()") == shard.schema


@pytest.mark.parametrize("autocommit", [False, True])
def test_a_connection_keeps_its_shard_in_both_modes(shards: SyncShards, *, autocommit: bool) -> None:
    with shards.shard(2).connect(autocommit=autocommit) as conn:
        for _ in range(2):
            assert one(conn, "SELECT current_schema()") == "s0002"
            conn.rollback()
        with conn.transaction():
            assert one(conn, "SELECT current_schema()") == "s0002"
        with conn.pipeline():
            assert one(conn, "SELECT current_schema()") == "s0002"
        with conn.cursor().copy("COPY posts (author_id, caption) FROM STDIN") as copy:
            copy.write_row((1, "copied"))
        conn.cursor().executemany(
            "INSERT INTO posts (author_id, caption) VALUES (1, %s)", [("many",), ("more",)]
        )
        conn.commit()
        assert [row[0] for row in conn.execute(CAPTIONS)] == ["copied", "many", "more"]


def test_transactions_on_many_shards_share_few_connections(shards: SyncShards) -> None:
    pids = set[object]()
    for number in (0, 1, 2, 3) * 5:
        with shards.shard(number).begin() as conn:
            assert one(conn, "SHOW search_path") == f"s000{number}, common, shardwright, public"
            pids.add(one(conn, "SELECT pg_backend_pid()"))

    assert len(pids) == 2  # one per server


def test_a_connection_that_led_to_many_shards_is_replaced(
    shards: SyncShards, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shardwright.psycopg.connection.MAX_SHARDS_TOUCHED", 2)
    pids: list[object] = []
    for number in (0, 0, 2, 0):
        with shards.shard(number).begin() as conn:
            pids.append(one(conn, "SELECT pg_backend_pid()"))

    assert pids[0] == pids[1] == pids[2]
    assert pids[3] != pids[0]


def test_threads_have_transactions_of_their_own(shards: SyncShards) -> None:
    def add(number: int) -> object:
        with shards.shard(number % 4).begin() as conn:
            conn.execute(ADD, (f"thread {number}",))
            return one(conn, "SELECT current_schema()")

    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(add, range(40)))

    assert found == [f"s000{number % 4}" for number in range(40)]


def test_session_state_does_not_reach_the_next_transaction(shards: SyncShards) -> None:
    with shards.shard(0).begin() as conn:
        pid = one(conn, "SELECT pg_backend_pid()")
        conn.execute(
            "SET search_path = pg_catalog; SET statement_timeout = 12345; SELECT pg_advisory_lock(7)"
        )
    with shards.shard(0).begin() as conn:
        assert one(conn, "SELECT pg_backend_pid()") == pid
        assert one(conn, "SHOW search_path") == "s0000, common, shardwright, public"
        assert one(conn, "SHOW statement_timeout") == "0"
        assert (
            one(conn, "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()")
            == 0
        )


def test_an_error_rolls_back_and_the_connection_is_used_again(shards: SyncShards) -> None:
    with shards.shard(1).begin() as conn:
        pid = one(conn, "SELECT pg_backend_pid()")
    with pytest.raises(psycopg.errors.UniqueViolation), shards.shard(1).begin() as conn:
        conn.execute("INSERT INTO posts VALUES (5, 1, 'once'), (5, 1, 'twice')")
    with shards.shard(1).begin() as conn:
        assert one(conn, "SELECT pg_backend_pid()") == pid
        assert conn.execute(CAPTIONS).fetchall() == []


async def test_a_stale_map_is_loaded_again_and_the_transaction_repeated(
    own_cluster: Cluster, shards: SyncShards
) -> None:
    with shards.shard(2).begin() as conn:
        conn.execute("SELECT 1")
    stale = shards.shard(2).server
    await move(own_cluster, 2)
    assert shards.shard(2).server == stale

    with pytest.raises(NotOwner, match="repeat the transaction"), shards.shard(2).begin() as conn:
        conn.execute(ADD, ("refused",))
    assert shards.shard(2).server != stale
    assert shards.shard(2).transact(lambda conn: conn.execute(ADD, ("moved",)).fetchone())
    with shards.shard(2).begin() as conn:
        assert conn.execute(CAPTIONS).fetchall() == [("moved",)]


@pytest.mark.slow
async def test_a_new_connection_goes_to_the_new_owner(own_cluster: Cluster, shards: SyncShards) -> None:
    assert shards.map
    await move(own_cluster, 2)

    with shards.shard(2).connect() as conn:
        conn.execute(ADD, ("at the owner",))
    with pytest.raises(NotOwner, match="for too long"):
        await own_cluster.set_owned(shards.shard(2).server, 2, owned=False)
        shards.shard(2).connect()


@pytest.mark.slow
async def test_a_read_follows_a_shard_whose_old_copy_is_gone(
    own_cluster: Cluster, shards: SyncShards
) -> None:
    with shards.shard(0).begin() as conn:
        conn.execute("SELECT 1")
    source = shards.shard(0).server
    await move(own_cluster, 0)
    await own_cluster.run(source, "DROP SCHEMA s0000 CASCADE")

    assert shards.shard(0).transact(lambda conn: conn.execute(CAPTIONS).fetchall()) == []
    with pytest.raises(psycopg.errors.UndefinedTable), shards.shard(0).begin() as conn:
        conn.execute("SELECT * FROM no_such_table")


async def test_a_broken_idle_connection_is_replaced(own_cluster: Cluster, shards: SyncShards) -> None:
    with shards.shard(1).begin() as conn:
        pid = one(conn, "SELECT pg_backend_pid()")
    await own_cluster.run(shards.shard(1).server, f"SELECT pg_terminate_backend({pid}, 10000)")

    with shards.shard(1).begin() as conn:
        assert one(conn, "SELECT pg_backend_pid()") != pid


async def test_addresses_that_lead_elsewhere_are_refused(own_cluster: Cluster) -> None:
    swapped = {"a": own_cluster.dsns["b"], "b": own_cluster.dsns["a"]}
    with (
        SyncShards.open(own_cluster.directory_dsn, dsns=swapped) as shards,
        pytest.raises(SetupInvalid, match="leads to server"),
    ):
        shards.shard(0).connect()
    nobody = dict.fromkeys("ab", "postgresql://nobody@127.0.0.1:1/nothing")
    with (
        SyncShards.open(own_cluster.directory_dsn, dsns=nobody) as shards,
        pytest.raises(ServerUnavailable, match="server a does not answer"),
    ):
        shards.shard(0).connect()


async def test_errors_of_a_directory_say_what_to_do(own_cluster: Cluster, fresh_database: object) -> None:
    with pytest.raises(ServerUnavailable, match="the directory does not answer"):
        load_map("postgresql://nobody@127.0.0.1:1/nothing")
    with pytest.raises(SetupInvalid, match="create it first"):
        load_map(own_cluster.dsns["b"])


async def test_an_old_map_is_kept_while_the_directory_is_down(own_cluster: Cluster) -> None:
    with SyncShards.open(own_cluster.directory_dsn, max_age_s=0) as shards:
        shards.maps._dsn = "postgresql://nobody@127.0.0.1:1/nothing"
        with shards.shard(0).begin() as conn:
            assert one(conn, "SELECT 1") == 1


async def test_a_shard_added_later_is_found(own_cluster: Cluster, shards: SyncShards) -> None:
    with pytest.raises(InvalidId):
        shards.shard(4)
    await own_cluster.directory.add_shards(1)
    with pytest.raises(
        InvalidId
    ):  # asked for a moment ago: numbers that are made up must not load the map each time
        shards.shard(4)
    shards.maps.unknown_interval_s = 0

    assert shards.shard(4).schema == "s0004"


async def test_the_address_of_a_server_may_change(own_cluster: Cluster, shards: SyncShards) -> None:
    with shards.shard(0).begin() as conn:
        conn.execute("SELECT 1")
    server = shards.map.server_of(0)
    directory: Directory = own_cluster.directory
    await directory.change(
        shards.map.version,
        lambda old: old.with_server(Server(server.name, f"{server.dsn}?application_name=elsewhere")),
    )
    shards.maps.refresh()

    with shards.shard(0).begin() as conn:
        assert one(conn, "SHOW application_name") == "elsewhere"


async def test_asyncio_programs_have_the_same(own_cluster: Cluster) -> None:
    async with await AsyncShards.open(own_cluster.directory_dsn, not_owner_wait_s=2) as shards:
        async with await shards.of("ana").connect() as conn:
            cursor = await conn.execute(ADD, ("async",))
            row = await cursor.fetchone()
        assert row is not None
        async with shards.owner(row[0]).begin() as conn:
            cursor = await conn.execute("SELECT current_schema()")
            assert await cursor.fetchone() == (shards.of("ana").schema,)
        assert shards.place().number in range(4)

        number = shards.of("ana").number
        await move(own_cluster, number)
        with pytest.raises(NotOwner):
            async with shards.shard(number).begin() as conn:
                await conn.execute(ADD, ("refused",))

        async def add(conn: psycopg.AsyncConnection[object]) -> object:
            return await (await conn.execute(ADD, ("moved",))).fetchone()

        assert await shards.shard(number).transact(add)


async def test_a_cancelled_transaction_leaves_no_search_path_behind(own_cluster: Cluster) -> None:
    async with await AsyncShards.open(own_cluster.directory_dsn) as shards:
        started = asyncio.Event()

        async def nap() -> None:
            async with shards.shard(0).begin() as conn:
                await conn.execute("SET search_path = pg_catalog")
                started.set()
                await conn.execute("SELECT pg_sleep(60)")

        task = asyncio.create_task(nap())
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        for _ in range(3):
            async with shards.shard(2).begin() as conn:
                cursor = await conn.execute("SHOW search_path")
                assert await cursor.fetchone() == ("s0002, common, shardwright, public",)


async def test_a_pooler_in_transaction_mode_may_be_between(
    own_cluster: Cluster, pooled_dsns: dict[str, str]
) -> None:
    with SyncShards.open(own_cluster.directory_dsn, dsns=pooled_dsns) as shards:
        for number in (0, 1, 2, 3) * 3:
            with shards.shard(number).begin() as conn:
                assert conn.is_behind_pooler
                assert one(conn, "SELECT current_schema()") == f"s000{number}"
        with shards.shard(1).connect() as conn:
            assert one(conn, "SELECT current_schema()") == "s0001"
        with (
            shards.shard(1).connect(autocommit=True) as conn,
            pytest.raises(SetupInvalid, match="turn autocommit off"),
        ):
            conn.execute("SELECT 1")


@pytest.mark.slow
async def test_the_runtime_role_without_ddl_is_enough(own_cluster: Cluster) -> None:
    roles = RoleSet("driven")
    for dsn in own_cluster.dsns.values():
        await ensure_roles(dsn, roles, dict.fromkeys(roles.logins, "for tests"))
    dsns = {
        name: make_conninfo(dsn, user=roles.runtime, password="for tests")
        for name, dsn in own_cluster.dsns.items()
    }

    def use() -> list[object]:
        with SyncShards.open(dsns["a"], dsns=dsns) as shards:
            for shard in (shards.shard(0), shards.shard(1)):
                with shard.begin() as conn:
                    conn.execute(ADD, ("by the runtime role",))
            with shards.shard(0).begin() as conn, pytest.raises(psycopg.errors.InsufficientPrivilege):
                conn.execute("DROP TABLE posts")
            with shards.shard(0).begin() as conn:
                return [row[0] for row in conn.execute(CAPTIONS)]

    assert await asyncio.to_thread(use) == ["by the runtime role"]
