"""Embedded replicas: they follow, come back after a crash, are made anew if they cannot catch up, and can take over."""

import asyncio
import os
import signal
from dataclasses import replace
from pathlib import Path

import pytest

from tests.stack.conftest import execute, fetch_value, mode_of, owner_of, survivors, until
from tintype.base.errors import SettingsInvalid
from tintype.base.settings import load_settings, replica_dsns
from tintype.stack import (
    Connections,
    ReplicaState,
    ReplicaStatus,
    Stack,
    StackPlan,
    Verdict,
    check_replicas,
    read_replicas,
    stack_plan,
)
from tintype.stack import replica as replica_module
from tintype.stack.applications import no_programs
from tintype.stack.engine_account import engine_account
from tintype.stack.machine import Machine, ProcessCounts
from tintype.stack.postgres_settings import postgres_settings, replica_settings
from tintype.stack.processes import find_working_in
from tintype.stack.state import Phase, ProcessState

REPLICA = "postgres-1-replica-1"


def _replica(found: Connections) -> str:
    return found.postgres_replicas[0].partition("=")[2]


async def _read(found: Connections) -> ReplicaStatus:
    (status,) = await read_replicas({"pg1": found.postgres[0]}, {"pg1": [_replica(found)]})
    return status


async def _until_caught_up(found: Connections) -> ReplicaStatus:
    async with asyncio.timeout(60):
        while (status := await _read(found)).lag_bytes != 0:  # noqa: ASYNC110 - changes elsewhere raise no event here
            await asyncio.sleep(0.1)
    return status


def _state(stack: Stack, name: str) -> ProcessState:
    return next(each for each in stack.processes if each.name == name)


async def _kill(stack: Stack, name: str) -> None:
    before = _state(stack, name)
    assert before.identity is not None
    os.kill(before.identity.pid, signal.SIGKILL)
    await until(lambda: _state(stack, name).restarts > before.restarts)
    await until(lambda: _state(stack, name).phase is Phase.READY)


def _plan(home: Path, **changes: object) -> StackPlan:
    return replace(StackPlan(home=home, durable=False, http_port=0, replica_count=1), **changes)


@pytest.mark.slow
async def test_a_replica_follows_and_comes_back_after_kill_9_of_either(home: Path) -> None:
    async with Stack(home, replicas=1, engines_only=True, durable=False) as stack:
        found = stack.connections
        assert [each.name for each in stack.processes] == ["postgres-1", "redis", "nats", REPLICA]
        for name in (REPLICA, "postgres-1"):
            await _kill(stack, name)
            await execute(found.postgres[0], f'CREATE TABLE "after {name}" AS SELECT 42 AS answer')
            assert (await _until_caught_up(found)).state is ReplicaState.FOLLOWING
            assert await fetch_value(_replica(found), f'SELECT answer FROM "after {name}"') == 42
        (alone,) = await read_replicas({"pg1": "postgresql://127.0.0.1:9/none"}, {"pg1": [_replica(found)]})
        assert (alone.state, alone.lag_bytes) == (ReplicaState.FOLLOWING, None)
        assert "its primary does not answer" in alone.detail
        with pytest.raises(Exception, match="read-only transaction"):
            await execute(_replica(found), "CREATE TABLE refused ()")
        running = find_working_in(home / REPLICA / "data", "postgres")
        account = engine_account()
        owner = os.geteuid() if account is None else account.uid
        assert {owner_of(each) for each in running} == {owner}
        assert mode_of(home / REPLICA) == 0o700

    assert survivors(home) == []
    assert find_working_in(home / REPLICA / "data", "postgres") == []


@pytest.mark.slow
async def test_starts_without_and_with_replicas_again_and_with_fewer_connections(home: Path) -> None:
    async with Stack.from_plan(_plan(home), applications=no_programs) as stack:
        found = stack.connections
    async with Stack.from_plan(_plan(home, replica_count=0), applications=no_programs) as stack:
        assert stack.connections.postgres_replicas == ()
        assert any(REPLICA in note for note in stack.notes)
        slots = await fetch_value(found.postgres[0], "SELECT count(*) FROM pg_replication_slots")
        assert slots == 0  # nobody will read the WAL that one would keep
        await execute(found.postgres[0], "CREATE TABLE meanwhile AS SELECT 42 AS answer")

    fewer = {"max_connections": "60", "max_locks_per_transaction": "64"}
    plan = _plan(home, postgres_settings=fewer, replica_settings=fewer)
    async with Stack.from_plan(plan, applications=no_programs) as stack:
        assert stack.connections.postgres_replicas == found.postgres_replicas
        await _until_caught_up(found)
        assert await fetch_value(_replica(found), "SELECT answer FROM meanwhile") == 42


@pytest.mark.slow
async def test_a_replica_whose_wal_is_gone_is_made_anew(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replica_module, "WATCH_EVERY_S", 0.3)
    settings = {"max_slot_wal_keep_size": "32MB", "min_wal_size": "32MB", "max_wal_size": "32MB"}
    plan = _plan(home, postgres_settings=settings, replica_settings=settings)
    async with Stack.from_plan(plan, applications=no_programs) as stack:
        found = stack.connections
        primary, processes = found.postgres[0], find_working_in(home / REPLICA / "data", "postgres")
        for each in processes:
            os.kill(each.pid, signal.SIGSTOP)
        await execute(primary, "CREATE TABLE counted AS SELECT generate_series(1, 3) AS number")
        # The walsender of the stopped replica would keep its slot in use for a minute.
        await execute(
            primary, "SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots WHERE active"
        )
        for number in range(4, 11):
            await execute(primary, f"INSERT INTO counted VALUES ({number}); SELECT pg_switch_wal()")
        await execute(primary, "CHECKPOINT")
        for each in processes:
            os.kill(each.pid, signal.SIGCONT)

        await until(lambda: _state(stack, REPLICA).restarts > 0)
        await until(lambda: _state(stack, REPLICA).phase is Phase.READY)
        await _until_caught_up(found)
        assert await fetch_value(_replica(found), "SELECT count(*) FROM counted") == 10
    assert "no longer has the WAL it needs" in (home / "logs" / "tintype.log").read_text()


@pytest.mark.slow
async def test_a_promoted_replica_is_the_server_from_the_next_start_on(home: Path) -> None:
    async with Stack.from_plan(_plan(home), applications=no_programs) as stack:
        found = stack.connections
        await fetch_value(_replica(found), "SELECT pg_promote()")
        await execute(_replica(found), "CREATE TABLE newest AS SELECT 42 AS answer")
        assert (await _read(found)).state is ReplicaState.PROMOTED
        await _kill(stack, REPLICA)  # it is not made anew from the old primary
        assert await fetch_value(_replica(found), "SELECT answer FROM newest") == 42

    async with Stack.from_plan(_plan(home), applications=no_programs) as stack:
        assert await fetch_value(stack.connections.postgres[0], "SELECT answer FROM newest") == 42
        assert any("had been promoted" in note for note in stack.notes)
        await _until_caught_up(stack.connections)
        assert await fetch_value(_replica(stack.connections), "SELECT answer FROM newest") == 42
    assert (home / "postgres-1.former-1" / "data" / "PG_VERSION").exists()


async def test_replicas_need_embedded_servers_and_addresses_need_existing_ones(plan: StackPlan) -> None:
    with pytest.raises(SettingsInvalid, match="postgres_replicas"):
        await Stack.from_plan(replace(plan, replica_count=1), applications=no_programs).start()
    alone = replace(plan, postgres=(), postgres_replicas=("pg1=postgresql://elsewhere",))
    with pytest.raises(SettingsInvalid, match="postgres_replica_count"):
        await Stack.from_plan(alone, applications=no_programs).start()


def test_replicas_of_existing_servers_are_named_by_their_server() -> None:
    given = {
        "TINTYPE_POSTGRES": "postgresql://a postgresql://b",
        "TINTYPE_POSTGRES_REPLICAS": "pg2=postgresql://c",
    }
    assert replica_dsns(load_settings(environ=given).settings) == {"pg2": ["postgresql://c"]}
    for wrong in ("pg3=postgresql://c", "postgresql://c"):
        with pytest.raises(SettingsInvalid, match="pg1, pg2"):
            replica_dsns(load_settings(environ={**given, "TINTYPE_POSTGRES_REPLICAS": wrong}).settings)


def test_a_replica_has_the_limits_of_its_primary_and_less_memory() -> None:
    machine = Machine(2, 2 * 1024**3)
    primary = postgres_settings(machine, ProcessCounts(1, 1), connections=8, shard_count=64)
    made = replica_settings(primary, machine)
    for name in ("max_connections", "max_locks_per_transaction"):
        assert made[name] == primary[name]
    assert made["shared_buffers"] == "32MB"


def test_servers_with_replicas_keep_a_limited_amount_of_wal(tmp_path: Path) -> None:
    given = {"TINTYPE_HOME": str(tmp_path), "TINTYPE_POSTGRES_REPLICA_COUNT": "1"}
    assert stack_plan(load_settings(environ=given)).postgres_settings["max_slot_wal_keep_size"] == "4096MB"


def test_doctor_says_what_to_do_about_a_replica() -> None:
    def judge(state: ReplicaState, detail: str) -> tuple[Verdict, str]:
        status = ReplicaStatus(
            server="pg1", address="a:1", state=state, lag_bytes=0, lag_s=60.0, detail=detail
        )
        (finding,) = check_replicas([status])
        return finding.verdict, finding.fix

    assert judge(ReplicaState.FOLLOWING, "") == (Verdict.OK, "")
    for state in ReplicaState:
        verdict, fix = judge(state, "its primary does not answer")
        assert verdict is Verdict.WARNING
        assert fix
