"""Restarts and recovery: servers and processes that die are restarted, also after the supervisor itself was killed."""

import asyncio
import os
import signal
from dataclasses import replace
from pathlib import Path

import asyncpg
import pytest

from tests.stack.conftest import (
    Supervise,
    connect,
    execute,
    fake_program,
    fetch_value,
    identity_of,
    state_of,
    survivors,
    until,
)
from tintype.stack import DataDirectory, DataDirectoryUnusable, Stack, StackPlan, StopOutcome, stop_running
from tintype.stack.nats import check_nats
from tintype.stack.postgres import remove_leftovers
from tintype.stack.processes import Identity, find_working_in, identify, is_alive, wait_gone
from tintype.stack.state import Phase, ProcessState
from tintype.stack.valkey import check_redis


@pytest.mark.slow
async def test_every_server_is_restarted_after_kill_9(home: Path) -> None:
    async with Stack(home, engines_only=True, durable=False) as stack:
        found = stack.connections
        await execute(found.postgres[0], "CREATE TABLE kept AS SELECT 42 AS answer")
        for name in ("postgres-1", "redis", "nats"):
            before = _state(stack, name)
            assert before.identity is not None
            os.kill(before.identity.pid, signal.SIGKILL)
            await until(lambda name=name: _state(stack, name).restarts == 1)
            await until(lambda name=name: _state(stack, name).phase is Phase.READY)
            assert _state(stack, name).last_exit == "killed by SIGKILL"

        assert await fetch_value(found.postgres[0], "SELECT answer FROM kept") == 42
        await check_redis(found.redis)
        await check_nats(found.nats)
    log = (home / "logs" / "tintype.log").read_text()
    assert "redis died (killed by SIGKILL); restarting it in 0.25 s" in log


@pytest.mark.slow
async def test_postgresql_is_restarted_although_a_busy_backend_outlives_the_postmaster(home: Path) -> None:
    async with Stack(home, engines_only=True, durable=False) as stack:
        dsn = stack.connections.postgres[0]
        connection = await connect(dsn)
        busy = asyncio.create_task(connection.execute("DO $$ BEGIN LOOP END LOOP; END $$"))
        await _wait_for_busy_backend(dsn)
        postmaster = _state(stack, "postgres-1").identity
        assert postmaster is not None
        os.kill(postmaster.pid, signal.SIGKILL)

        await until(lambda: _state(stack, "postgres-1").restarts == 1)
        await until(lambda: _state(stack, "postgres-1").phase is Phase.READY)
        assert await fetch_value(dsn, "SELECT 1") == 1
        with pytest.raises(asyncpg.PostgresError):
            await busy


@pytest.mark.slow
async def test_our_processes_are_restarted_and_their_helpers_are_killed(supervise: Supervise) -> None:
    running = supervise("worker", "web")
    home = running.home
    for name in ("worker", "web"):
        first = identity_of(home, name)
        helpers = [each for each in survivors(home) if _is_child_of(each, first)]
        assert len(helpers) == (1 if name == "web" else 0)
        os.kill(first.pid, signal.SIGKILL)

        await until(
            lambda name=name: any(each.name == name and each.restarts for each in state_of(home).processes)
        )
        await until(lambda: all(each.phase is Phase.READY for each in state_of(home).processes))
        assert not any(is_alive(each) for each in helpers)


@pytest.mark.slow
async def test_kill_9_of_the_supervisor_stops_everything_and_the_next_start_recovers(
    supervise: Supervise,
) -> None:
    running = supervise("worker", "stubborn", "web")
    await execute(running.postgres, "CREATE TABLE kept AS SELECT 42 AS answer")
    polite = [identity_of(running.home, name) for name in ("postgres-1", "redis", "nats", "worker")]
    stubborn = identity_of(running.home, "stubborn")
    running.process.kill()
    running.process.wait()

    assert await wait_gone(polite, 60.0) == []
    assert is_alive(stubborn)

    again = supervise("worker", "web")
    assert not is_alive(stubborn)
    assert again.environment == running.environment
    assert await fetch_value(again.postgres, "SELECT answer FROM kept") == 42

    again.process.terminate()
    assert again.process.wait(timeout=60) == 0
    assert survivors(running.home) == []


@pytest.mark.slow
async def test_the_next_start_recovers_at_once_while_the_old_servers_are_still_stopping(
    supervise: Supervise,
) -> None:
    running = supervise("web")
    for each in survivors(running.home):
        os.kill(each.pid, signal.SIGSTOP)  # PDEATHSIG stays pending until they continue
    running.process.kill()
    running.process.wait()
    for each in survivors(running.home):
        os.kill(each.pid, signal.SIGCONT)

    again = supervise("web")
    assert await fetch_value(again.postgres, "SELECT 1") == 1


@pytest.mark.slow
async def test_down_stops_what_a_killed_supervisor_left_behind(supervise: Supervise) -> None:
    running = supervise("stubborn")
    running.process.kill()
    running.process.wait()

    assert await stop_running(DataDirectory(running.home)) is StopOutcome.CLEARED
    assert survivors(running.home) == []
    assert await stop_running(DataDirectory(running.home)) is StopOutcome.NOTHING


@pytest.mark.slow
async def test_an_unrelated_process_that_reuses_a_pid_is_left_alone(plan: StackPlan) -> None:
    async with Stack.from_plan(plan, applications=lambda _: [fake_program("worker")]):
        recorded = (plan.home / "run" / "state.json").read_text()
        worker = identity_of(plan.home, "worker")
    bystander = await asyncio.create_subprocess_exec("sleep", "60")
    # The supervisor was killed, and its worker's pid now belongs to an unrelated process.
    changed = recorded.replace(f'"pid": {worker.pid}', f'"pid": {bystander.pid}')
    (plan.home / "run" / "state.json").write_text(changed)

    async with Stack.from_plan(plan, applications=lambda _: [fake_program("worker")]):
        assert identify(bystander.pid) is not None
    bystander.kill()
    await bystander.wait()


@pytest.mark.slow
async def test_a_crash_loop_is_reported_once_with_the_last_output(
    plan: StackPlan, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tintype.stack.program_runner._FIRST_PAUSE_S", 0.01)
    fading = replace(fake_program("fade", "0.6"))
    async with Stack.from_plan(plan, applications=lambda _: [fading]) as stack:
        await until(lambda: _state(stack, "fade").restarts >= 4)
    log = (plan.home / "logs" / "tintype.log").read_text()
    assert log.count("it keeps crashing. Its last output:") == 1
    assert "the schema is from the future" in log


@pytest.mark.slow
async def test_a_program_that_does_not_stop_is_killed_after_its_grace(plan: StackPlan) -> None:
    async with Stack.from_plan(plan, applications=lambda _: [fake_program("stubborn", grace_s=0.3)]) as stack:
        stubborn = _state(stack, "stubborn").identity
        assert stubborn is not None
    assert not is_alive(stubborn)
    assert "stubborn did not stop in 0.3 s and was killed" in (plan.home / "logs" / "tintype.log").read_text()


@pytest.mark.slow
async def test_an_unrelated_process_with_the_old_pid_of_postgresql_does_not_prevent_a_start(
    home: Path,
) -> None:
    async with Stack(home, engines_only=True, durable=False):
        pid_file = home / "postgres-1" / "data" / "postmaster.pid"
        kept = pid_file.read_text().splitlines()
    # The machine lost power, and after the reboot an unrelated process of the same account got the pid.
    account, is_root = pid_file.parent.stat(), os.geteuid() == 0
    bystander = await asyncio.create_subprocess_exec("sleep", "60", user=account.st_uid if is_root else None)
    pid_file.write_text("\n".join([str(bystander.pid), *kept[1:]]) + "\n")
    os.chown(pid_file, account.st_uid, account.st_gid)

    async with Stack(home, engines_only=True, durable=False) as stack:
        assert await fetch_value(stack.connections.postgres[0], "SELECT 1") == 1
    assert identify(bystander.pid) is not None
    bystander.kill()
    await bystander.wait()


@pytest.mark.slow
async def test_a_server_that_somebody_else_runs_in_our_folder_is_not_stopped(home: Path) -> None:
    async with Stack(home, engines_only=True, durable=False):
        data = home / "postgres-1" / "data"
        (postmaster, *_) = find_working_in(data, "postgres")

        with pytest.raises(DataDirectoryUnusable, match="that we did not start"):
            await remove_leftovers(data)
        assert is_alive(postmaster)


async def test_stopping_while_starting_leaves_nothing_running(plan: StackPlan) -> None:
    async def never() -> None:
        raise ConnectionError

    stack = Stack.from_plan(plan, applications=lambda _: [replace(fake_program("worker"), ready=never)])
    starting = asyncio.create_task(stack.start())
    await until(lambda: bool(stack.processes) and stack.processes[0].identity is not None)
    starting.cancel()

    with pytest.raises(asyncio.CancelledError):
        await starting
    assert survivors(plan.home) == []


def _state(stack: Stack, name: str) -> ProcessState:
    return next(each for each in stack.processes if each.name == name)


def _is_child_of(each: Identity, parent: Identity) -> bool:
    try:
        return int(Path(f"/proc/{each.pid}/stat").read_text().rpartition(")")[2].split()[1]) == parent.pid
    except FileNotFoundError:
        return False


async def _wait_for_busy_backend(dsn: str) -> None:
    """Wait until PostgreSQL runs the endless loop."""
    watching = await connect(dsn)
    try:
        while not await watching.fetchval(  # noqa: ASYNC110 - waits for the server, not for us
            "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE state = 'active' AND query LIKE 'DO %LOOP END LOOP%')"
        ):
            await asyncio.sleep(0.02)
    finally:
        await watching.close()
