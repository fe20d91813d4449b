"""SQLAlchemy engines bound to a shard."""

from collections.abc import Iterator

import pytest
from psycopg.errors import UndefinedTable
from routing_test_cluster import Cluster
from sqlalchemy import BigInteger, Connection, Engine, FetchedValue, Text, create_engine, select, text
from sqlalchemy.exc import IntegrityError, ProgrammingError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncSession
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

from shardwright.errors import InvalidId, NotOwner, SetupInvalid
from shardwright.sqlalchemy import AsyncShardEngines, ShardEngines, shard_of_engine
from shardwright.topology import Server

ADD = text("INSERT INTO posts (author_id, caption) VALUES (1, :caption) RETURNING id")


class Base(DeclarativeBase):
    pass


class Post(Base):
    """A model that knows nothing of shards: its key is made by the shard."""

    __tablename__ = "posts"

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True, server_default=FetchedValue())
    author_id: Mapped[int] = mapped_column(BigInteger)
    caption: Mapped[str] = mapped_column(Text)


@pytest.fixture
def engines(own_cluster: Cluster) -> Iterator[ShardEngines]:
    with ShardEngines.open(
        own_cluster.directory_dsn, not_owner_wait_s=2, pool_size=1, max_overflow=4
    ) as found:
        yield found


def one(engine: Engine, sql: str) -> object:
    with engine.begin() as conn:
        return conn.scalar(text(sql))


async def move(cluster: Cluster, number: int) -> None:
    """Move an empty shard to the other server; whoever has the old map hears nothing of it."""
    source = (await cluster.directory.load()).server_of(number).name
    target = {"a": "b", "b": "a"}[source]
    await cluster.prepare_move(number, target)
    await cluster.set_owned(source, number, owned=False)
    await cluster.set_owned(target, number, owned=True)
    await cluster.flip_map(number, target)


def test_core_orm_and_textual_sql_reach_the_shard(engines: ShardEngines) -> None:
    for engine in (engines.shard(3), engines.of("ana"), engines.place()):
        number = shard_of_engine(engine)
        with Session(engine) as session:
            post = Post(author_id=1, caption="orm")
            session.add(post)
            session.commit()
            assert engines.owner(post.id) is engine
            assert engines.map.layout.id_shard(post.id) == number
            assert session.scalars(select(Post.caption)).all()[-1] == "orm"
        assert one(engine, "SELECT current_schema()") == f"s{number:04d}"


def test_all_shards_of_a_server_share_its_pool(engines: ShardEngines) -> None:
    seen = set[object]()
    for number in (0, 1, 2, 3) * 4:
        engine = engines.shard(number)
        assert one(engine, "SELECT current_schema()") == f"s000{number}"
        seen.add(one(engine, "SELECT pg_backend_pid()"))
        with pytest.raises(IntegrityError), engine.begin() as conn:
            conn.execute(text("INSERT INTO posts VALUES (7, 1, 'once'), (7, 1, 'twice')"))

    assert len(seen) == 2


def test_a_connection_that_led_to_many_shards_is_replaced(
    engines: ShardEngines, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shardwright.psycopg.connection.MAX_SHARDS_TOUCHED", 2)
    pids = [one(engines.shard(number), "SELECT pg_backend_pid()") for number in (0, 0, 2, 0)]

    assert pids[0] == pids[1] == pids[2]
    assert pids[3] != pids[0]


def test_a_connection_keeps_its_shard_when_it_is_replaced(engines: ShardEngines) -> None:
    with engines.shard(2).connect() as conn, engines.shard(0).connect() as other:
        assert conn.scalar(text("SELECT current_schema()")) == "s0002"
        assert other.scalar(text("SELECT current_schema()")) == "s0000"
        conn.invalidate()
        conn.rollback()
        assert conn.scalar(text("SELECT current_schema()")) == "s0002"
        conn.commit()
        assert conn.scalar(text("SELECT current_schema()")) == "s0002"
        with conn.begin_nested():
            assert conn.scalar(text("SELECT current_schema()")) == "s0002"


def test_autocommit_and_raw_connections_do_not_reach_another_shard(engines: ShardEngines) -> None:
    with engines.shard(0).connect().execution_options(isolation_level="AUTOCOMMIT") as conn:
        assert conn.scalar(text("SELECT current_schema()")) == "s0000"
    with engines.shard(2).connect().execution_options(isolation_level="AUTOCOMMIT") as conn:
        assert conn.scalar(text("SELECT current_schema()")) == "s0002"
    raw = engines.shard(2).raw_connection()
    with pytest.raises(UndefinedTable):
        raw.cursor().execute("SELECT * FROM no_such_table")
    raw.close()


@pytest.mark.slow
async def test_a_refused_transaction_is_repeated_at_the_new_owner(
    own_cluster: Cluster, engines: ShardEngines
) -> None:
    assert one(engines.shard(2), "SELECT 1") == 1
    stale = engines.shard(2)
    await move(own_cluster, 2)

    with pytest.raises(NotOwner, match="repeat the transaction"), stale.begin() as conn:
        conn.execute(ADD, {"caption": "refused"})
    assert engines.shard(2) is not stale
    await move_back_and_check(own_cluster, engines)


async def move_back_and_check(cluster: Cluster, engines: ShardEngines) -> None:
    current = await cluster.directory.load()
    here = current.server_of(2).name
    there = {"a": "b", "b": "a"}[here]
    await cluster.set_owned(here, 2, owned=False)
    await cluster.set_owned(there, 2, owned=True)
    await cluster.flip_map(2, there)
    calls: list[Connection] = []

    def add(conn: Connection) -> int:
        calls.append(conn)
        return conn.scalar(ADD, {"caption": "moved"}) or 0

    new_id = engines.transact(lambda engines: engines.shard(2), add)
    assert len(calls) == 2
    assert engines.map.layout.id_shard(new_id) == 2
    assert one(engines.shard(2), "SELECT string_agg(caption, ',') FROM posts") == "moved"


@pytest.mark.slow
async def test_a_read_notices_that_the_old_copy_is_gone(own_cluster: Cluster, engines: ShardEngines) -> None:
    assert one(engines.shard(1), "SELECT count(*) FROM posts") == 0
    source = engines.map.server_of(1).name
    await move(own_cluster, 1)
    await own_cluster.run(source, "DROP SCHEMA s0001 CASCADE")

    count = text("SELECT count(*) FROM posts")
    assert engines.transact(lambda engines: engines.shard(1), lambda conn: conn.scalar(count)) == 0
    with pytest.raises(ProgrammingError, match="no_such_table"):
        one(engines.shard(1), "SELECT * FROM no_such_table")


async def test_a_new_address_and_a_new_shard_are_found(own_cluster: Cluster, engines: ShardEngines) -> None:
    assert one(engines.shard(0), "SELECT 1") == 1
    server = engines.map.server_of(0)
    await own_cluster.directory.change(
        engines.map.version,
        lambda old: old.with_server(Server(server.name, f"{server.dsn}?application_name=elsewhere")),
    )
    engines.maps.refresh()
    assert one(engines.shard(0), "SHOW application_name") == "elsewhere"
    engines.maps.unknown_interval_s = 0
    with pytest.raises(InvalidId):
        engines.shard(4)
    await own_cluster.directory.add_shards(1)
    assert one(engines.shard(4), "SELECT current_schema()") == "s0004"


def test_an_engine_of_ones_own_has_no_shard() -> None:
    with pytest.raises(SetupInvalid, match="not bound to a shard"):
        shard_of_engine(create_engine("postgresql+psycopg://"))


async def test_asyncio_programs_have_the_same(own_cluster: Cluster) -> None:
    async with await AsyncShardEngines.open(
        own_cluster.directory_dsn, not_owner_wait_s=2, pool_size=1
    ) as engines:
        async with AsyncSession(engines.of("ana")) as session:
            post = Post(author_id=1, caption="async")
            session.add(post)
            await session.commit()
            await session.refresh(post)
        assert engines.owner(post.id) is engines.of("ana")
        number = shard_of_engine(engines.owner(post.id))
        for each in (0, 1, 2, 3) * 2:
            async with engines.shard(each).connect() as conn:
                assert await conn.scalar(text("SELECT current_schema()")) == f"s000{each}"
        assert shard_of_engine(engines.place()) in range(4)

        await move(own_cluster, number)
        with pytest.raises(NotOwner):
            async with engines.shard(number).begin() as conn:
                await conn.execute(ADD, {"caption": "refused"})

        async def add(conn: AsyncConnection) -> object:
            return await conn.scalar(ADD, {"caption": "moved"})

        assert await engines.transact(lambda engines: engines.shard(number), add)


async def test_a_pooler_in_transaction_mode_may_be_between(
    own_cluster: Cluster, pooled_dsns: dict[str, str]
) -> None:
    with ShardEngines.open(own_cluster.directory_dsn, dsns=pooled_dsns) as engines:
        for number in (0, 1, 2, 3) * 2:
            with Session(engines.shard(number)) as session:
                session.add(Post(author_id=1, caption="pooled"))
                session.commit()
                assert session.scalar(text("SELECT current_schema()")) == f"s000{number}"
        with (
            pytest.raises(SetupInvalid, match="turn autocommit off"),
            engines.shard(0).connect().execution_options(isolation_level="AUTOCOMMIT") as conn,
        ):
            conn.scalar(text("SELECT 1"))
