"""Replicas and roles: an application that may create nothing reads from replicas, and records a new timeline."""

from collections.abc import AsyncIterator
from urllib.parse import urlsplit, urlunsplit

import asyncpg
import pytest
from replica_test_cluster import QUERIES, SHARDS, ReplicatedServer

from shardwright.errors import SetupInvalid
from shardwright.routing import Session, Shards, install_queries, session
from shardwright.topology import Directory, RoleSet, ensure_roles, open_connection

ROLES = RoleSet("spread")
PASSWORD = "for tests alone"


def signed_in_as(role: str, dsn: str) -> str:
    parts = urlsplit(dsn)
    return urlunsplit(parts._replace(netloc=f"{role}:for%20tests%20alone@{parts.netloc.rpartition('@')[2]}"))


@pytest.fixture
async def runtime(replicated: ReplicatedServer) -> AsyncIterator[Shards]:
    """A router of the application's role, whose primary has a timeline that nobody has recorded yet."""
    await ensure_roles(replicated.dsn, ROLES, dict.fromkeys(ROLES.logins, PASSWORD))
    migrator = signed_in_as(ROLES.migrator, replicated.dsn)
    directory = await Directory.open(migrator, dsns={"a": migrator})
    await install_queries(directory, [QUERIES])
    await directory.close()
    await replicated.run(replicated.primary, "UPDATE shardwright.replication SET timeline = 0")
    await replicated.caught_up()
    dsn = signed_in_as(ROLES.runtime, replicated.dsn)
    async with await Shards.open(dsn, queries=[QUERIES], dsns={"a": dsn}) as shards:
        yield shards


async def test_a_runtime_role_records_the_timeline_and_replicas_answer_it(
    replicated: ReplicatedServer, runtime: Shards
) -> None:
    await replicated.wait_for_replicas(runtime, len(replicated.standbys))

    with Session() as caller:
        await runtime.shard(1).execute(QUERIES.put, id=1, value=7)
        assert await runtime.read(session()).shard(1).fetch_value(QUERIES.value, id=1) == 7
    assert await caller.token()
    for standby in replicated.standbys:
        await replicated.wait_until(standby, "SELECT timeline = 1 FROM shardwright.replication")


async def test_a_runtime_role_changes_nothing_else_of_what_replicas_are_judged_by(
    replicated: ReplicatedServer, runtime: Shards
) -> None:
    assert runtime.map.servers["a"].replicas
    conn = await open_connection(signed_in_as(ROLES.runtime, replicated.dsn), "a")
    for statement in (
        "UPDATE shardwright.replication SET ownership = 0",
        "DELETE FROM shardwright.replication",
        "INSERT INTO shardwright.replication SELECT FROM shardwright.replication",
    ):
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await conn.execute(statement)
    await conn.close()


async def test_a_replica_that_has_not_replayed_the_installation_yet_is_refused_with_advice(
    shared_server: ReplicatedServer,
) -> None:
    standby = shared_server.standbys[0]
    await shared_server.run(standby, "SELECT pg_wal_replay_pause()::text", database="postgres")
    try:
        await shared_server.run(shared_server.primary, "CREATE DATABASE not_replayed", database="postgres")
        directory = await Directory.open(shared_server.primary.dsn("not_replayed"))
        await directory.create()
        await directory.add_server("a", shared_server.primary.dsn("not_replayed"))
        await directory.add_shards(SHARDS)
        with pytest.raises(SetupInvalid, match="not replayed it yet"):
            await directory.add_replica("a", f"127.0.0.1:{standby.port}")
        await directory.close()
    finally:
        await shared_server.run(standby, "SELECT pg_wal_replay_resume()::text", database="postgres")
