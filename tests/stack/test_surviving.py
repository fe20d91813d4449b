"""What dies comes back: every engine, every process, and after the supervisor itself was killed, everything."""

import asyncio
import os
import signal
from dataclasses import replace
from pathlib import Path

import asyncpg
import pytest

from tests.stack.conftest import (
    Supervise,
    ask,
    connect,
    execute,
    identity_of,
    standin,
    state_of,
    survivors,
    until,
)
from tintype.stack import Home, HomeUnusable, Outcome, Plan, Stack, stop_running
from tintype.stack.nats import check_nats
from tintype.stack.postgres import clear_remains
from tintype.stack.processes import Identity, find_working_in, identify, is_alive, wait_gone
from tintype.stack.state import Phase, ProcessState
from tintype.stack.valkey import check_redis


@pytest.mark.slow
async def test_every_engine_is_back_after_kill_9(home: Path) -> None:
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

        assert await ask(found.postgres[0], "SELECT answer FROM kept") == 42
        await check_redis(found.redis)
        await check_nats(found.nats)
    said = (home / "logs" / "tintype.log").read_text()
    assert "redis died (killed by SIGKILL); starting it again in 0.25 s" in said


@pytest.mark.slow
async def test_postgresql_is_back_although_a_busy_backend_outlives_the_postmaster(home: Path) -> None:
    async with Stack(home, engines_only=True, durable=False) as stack:
        dsn = stack.connections.postgres[0]
        connection = await connect(dsn)
        busy = asyncio.create_task(connection.execute("DO $$ BEGIN LOOP END LOOP; END $$"))
        await asyncio.sleep(0.2)
        postmaster = _state(stack, "postgres-1").identity
        assert postmaster is not None
        os.kill(postmaster.pid, signal.SIGKILL)

        await until(lambda: _state(stack, "postgres-1").restarts == 1)
        await until(lambda: _state(stack, "postgres-1").phase is Phase.READY)
        assert await ask(dsn, "SELECT 1") == 1
        with pytest.raises(asyncpg.PostgresError):
            await busy


@pytest.mark.slow
async def test_processes_of_ours_come_back_and_their_helpers_are_not_left_over(supervise: Supervise) -> None:
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
async def test_kill_9_of_the_supervisor_takes_all_along_and_the_next_start_recovers(
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
    assert await ask(again.postgres, "SELECT answer FROM kept") == 42

    again.process.terminate()
    assert again.process.wait(timeout=60) == 0
    assert survivors(running.home) == []


@pytest.mark.slow
async def test_the_next_start_recovers_at_once_while_the_old_servers_are_still_leaving(
    supervise: Supervise,
) -> None:
    running = supervise("web")
    for each in survivors(running.home):
        os.kill(each.pid, signal.SIGSTOP)  # the kernel's farewell signal waits until they go on
    running.process.kill()
    running.process.wait()
    for each in survivors(running.home):
        os.kill(each.pid, signal.SIGCONT)

    again = supervise("web")
    assert await ask(again.postgres, "SELECT 1") == 1


@pytest.mark.slow
async def test_down_clears_what_a_killed_supervisor_left_behind(supervise: Supervise) -> None:
    running = supervise("stubborn")
    running.process.kill()
    running.process.wait()

    assert await stop_running(Home(running.home)) is Outcome.CLEARED
    assert survivors(running.home) == []
    assert await stop_running(Home(running.home)) is Outcome.NOTHING


async def test_a_process_that_was_given_an_old_pid_is_left_alone(plan: Plan) -> None:
    async with Stack.following(plan, applications=lambda _: [standin("worker")]):
        recorded = (plan.home / "run" / "state.json").read_text()
        worker = identity_of(plan.home, "worker")
    bystander = await asyncio.create_subprocess_exec("sleep", "60")
    # The supervisor was killed, and its worker's pid now belongs to somebody else.
    told = recorded.replace(f'"pid": {worker.pid}', f'"pid": {bystander.pid}')
    (plan.home / "run" / "state.json").write_text(told)

    async with Stack.following(plan, applications=lambda _: [standin("worker")]):
        assert identify(bystander.pid) is not None
    bystander.kill()
    await bystander.wait()


async def test_a_crash_loop_is_explained_once_with_the_last_words(
    plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tintype.stack.keeper._FIRST_PAUSE_S", 0.01)
    fading = replace(standin("fade", "0.6"))
    async with Stack.following(plan, applications=lambda _: [fading]) as stack:
        await until(lambda: _state(stack, "fade").restarts >= 4)
    said = (plan.home / "logs" / "tintype.log").read_text()
    assert said.count("it keeps dying. Its last words:") == 1
    assert "the schema is from the future" in said


async def test_a_program_that_does_not_stop_is_killed_after_its_grace(plan: Plan) -> None:
    async with Stack.following(plan, applications=lambda _: [standin("stubborn", grace_s=0.3)]) as stack:
        stubborn = _state(stack, "stubborn").identity
        assert stubborn is not None
    assert not is_alive(stubborn)
    assert "stubborn did not stop in 0.3 s and was killed" in (plan.home / "logs" / "tintype.log").read_text()


async def test_an_unrelated_process_with_the_old_pid_of_postgresql_is_no_obstacle(home: Path) -> None:
    async with Stack(home, engines_only=True, durable=False):
        pid_file = home / "postgres-1" / "data" / "postmaster.pid"
        kept = pid_file.read_text().splitlines()
    # A machine that lost power, booted, and gave the number to a process of the same account.
    account, is_root = pid_file.parent.stat(), os.geteuid() == 0
    bystander = await asyncio.create_subprocess_exec("sleep", "60", user=account.st_uid if is_root else None)
    pid_file.write_text("\n".join([str(bystander.pid), *kept[1:]]) + "\n")
    os.chown(pid_file, account.st_uid, account.st_gid)

    async with Stack(home, engines_only=True, durable=False) as stack:
        assert await ask(stack.connections.postgres[0], "SELECT 1") == 1
    assert identify(bystander.pid) is not None
    bystander.kill()
    await bystander.wait()


@pytest.mark.slow
async def test_a_server_that_somebody_else_runs_in_our_folder_is_not_ended(home: Path) -> None:
    async with Stack(home, engines_only=True, durable=False):
        data = home / "postgres-1" / "data"
        (postmaster, *_) = find_working_in(data, "postgres")

        with pytest.raises(HomeUnusable, match="that we did not start"):
            await clear_remains(data)
        assert is_alive(postmaster)


async def test_stopping_while_starting_leaves_nothing(plan: Plan) -> None:
    async def never() -> None:
        raise ConnectionError

    stack = Stack.following(plan, applications=lambda _: [replace(standin("worker"), ready=never)])
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
