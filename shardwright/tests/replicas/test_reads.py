"""Which server answers a read, and that it has what the reader was promised."""

import os
import signal

import pytest
from replica_test_cluster import QUERIES, OpenRouter, ReplicatedServer

from shardwright.errors import SetupInvalid
from shardwright.routing import ANY, STRONG, Session, Shards, bounded, session

_A_BACKEND = """\
SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() LIMIT 1
"""


async def test_any_is_answered_by_replicas_and_strong_by_the_primary(shards: Shards) -> None:
    assert await shards.read(ANY).shard(1).fetch_value(QUERIES.is_replica)
    assert not await shards.read(STRONG).shard(1).fetch_value(QUERIES.is_replica)
    assert not await shards.shard(1).fetch_value(QUERIES.is_replica)


async def test_a_session_reads_its_own_write_while_replicas_lag(
    replicated: ReplicatedServer, shards: Shards
) -> None:
    await shards.shard(1).execute(QUERIES.put, id=1, value=1)
    await replicated.pause_all()

    with Session() as caller:
        await shards.shard(1).execute(QUERIES.put, id=1, value=2)
        assert await shards.read(session()).shard(1).fetch_value(QUERIES.value, id=1) == 2
        token = await caller.token()

    assert await shards.read(session(token)).shard(1).fetch_value(QUERIES.value_hot, id=1) == 2
    assert await shards.read(session(Session())).shard(1).fetch_value(QUERIES.value, id=1) == 1


async def test_a_session_goes_back_to_replicas_once_they_have_its_write(
    replicated: ReplicatedServer, shards: Shards
) -> None:
    caller = Session()
    with caller:
        await shards.shard(2).execute(QUERIES.put, id=2, value=1)
    await replicated.caught_up()

    assert await shards.read(session(caller)).shard(2).fetch_value(QUERIES.is_replica)
    assert await shards.read(session(await caller.token())).shard(2).fetch_value(QUERIES.is_replica)


async def test_a_session_never_goes_back_to_an_older_replica(
    replicated: ReplicatedServer, shards: Shards
) -> None:
    behind, ahead = replicated.standbys
    await replicated.pause(behind)
    await shards.shard(1).execute(QUERIES.put, id=3, value=7)
    lsn = await replicated.run(replicated.primary, "SELECT pg_current_wal_flush_lsn()::text")
    await replicated.wait_until(ahead, f"SELECT pg_last_wal_replay_lsn() >= '{lsn}'::pg_lsn")

    seen = Session()
    while await shards.read(session(seen)).shard(1).fetch_value(QUERIES.value, id=3) is None:
        seen = Session()  # the one that is behind answered, as it may
    token = await seen.token()

    for _ in range(20):
        assert await shards.read(session(token)).shard(1).fetch_value(QUERIES.value, id=3) == 7


@pytest.mark.usefixtures("shards")
async def test_a_token_of_a_read_names_the_replica_and_nobody_is_asked_for_its_position(
    replicated: ReplicatedServer, open_router: OpenRouter
) -> None:
    await replicated.caught_up()  # with the timeline, which the first router has recorded
    here, there = [await open_router(replicated) for _ in range(2)]
    found = [each for router in (here, there) for _, each in router.replica_sets()]
    for each in found:
        each._task.cancel()  # whoever asks now does so for a read
    replicas = [replica for each in found for replica in each.all]
    asked = [each.asked_at for each in replicas]
    seen = Session()
    port = await here.read(session(seen)).shard(1).fetch_value(QUERIES.answered_by)

    token = await seen.token()
    for router in (here, there) * 5:
        assert await router.read(session(token)).shard(1).fetch_value(QUERIES.answered_by) == port
        with Session.parse(token) as caller:
            await router.read(session()).shard(1).fetch_value(QUERIES.value, id=1)
            token = await caller.token()
    assert [each.asked_at for each in replicas] == asked


async def test_a_token_of_a_replica_that_is_gone_is_answered_with_all_that_is_there(
    replicated: ReplicatedServer, shards: Shards
) -> None:
    await shards.shard(1).execute(QUERIES.put, id=5, value=1)
    await replicated.pause_all()
    await shards.shard(1).execute(QUERIES.put, id=5, value=2)  # which the replica that is gone may have shown
    token = "1.1.a~1~0~0123456789ab"

    assert await shards.read(session(token)).shard(1).fetch_value(QUERIES.value, id=5) == 2
    assert await shards.read(session("1.1.a~1~0")).shard(1).fetch_value(QUERIES.value, id=5) == 1


@pytest.mark.slow
async def test_a_replica_whose_recovery_began_again_is_another_one_to_tokens(
    own_replicated: ReplicatedServer, open_router: OpenRouter
) -> None:
    server, standby = own_replicated, own_replicated.standbys[0]
    shards = await open_router(server, replica_probe_s=0.1)
    known = [each for _, found in shards.replica_sets() for each in found.replicas]
    before = {each.dsn: each.incarnation for each in known}
    postmaster = await server.run(standby, "SELECT pg_postmaster_start_time()::text")

    # PostgreSQL ends every session then, and recovery begins at the last restart point: it may show less than before.
    os.kill(await server.run(standby, _A_BACKEND), signal.SIGKILL)
    while len({each.incarnation for each in known} & set(before.values())) > 1:
        await server.wait_for_replicas(shards, 1)

    [changed] = [each for each in known if each.incarnation != before[each.dsn]]
    assert f":{standby.port}/" in changed.dsn
    await server.wait_until(standby, f"SELECT pg_postmaster_start_time()::text = '{postmaster}'")


async def test_a_bounded_read_does_not_use_a_replica_that_is_behind_its_bound(
    replicated: ReplicatedServer, shards: Shards
) -> None:
    await shards.shard(1).execute(QUERIES.put, id=4, value=1)
    await replicated.pause_all()
    await shards.shard(1).execute(QUERIES.put, id=4, value=2)
    await replicated.run(replicated.primary, "SELECT pg_sleep(0.1)::text")

    assert await shards.read(bounded(0.1)).shard(1).fetch_value(QUERIES.value, id=4) == 2
    assert await shards.read(ANY).shard(1).fetch_value(QUERIES.value, id=4) == 1


async def test_gathers_and_broadcasts_are_read_from_replicas_too(
    replicated: ReplicatedServer, shards: Shards
) -> None:
    ids = [shards.map.layout.compose(10**10, number, 1) for number in range(4)]
    for id_ in ids:
        await shards.owner(id_).execute(QUERIES.put, id=id_, value=5)
    await shards.gather(QUERIES.values, ids)  # the primary gets the functions, and the replicas from it
    await shards.everywhere().fetch(QUERIES.all_values)
    await replicated.caught_up()
    replicas = shards.server_for(0).replicas
    assert replicas is not None
    fallbacks = replicas.fallbacks

    gathered = await shards.read(bounded(5)).gather(QUERIES.values, ids)
    everywhere = await shards.read(ANY).everywhere().fetch(QUERIES.all_values)

    assert sorted(row["id"] for row in gathered.rows) == sorted(ids)
    assert sorted(row["id"] for row in everywhere.rows) == sorted(ids)
    assert replicas.fallbacks == fallbacks


async def test_a_reader_refuses_writes(shards: Shards) -> None:
    with pytest.raises(SetupInvalid, match="put writes"):
        await shards.read(ANY).shard(0).fetch(QUERIES.put, id=1, value=1)
    with pytest.raises(SetupInvalid, match="with session"):
        shards.read(session())
