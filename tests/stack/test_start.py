"""The servers start, answer, keep their data, and leave nothing running behind."""

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest
from redis.asyncio import Redis

from tests.stack.conftest import execute, fake_program, fetch_value, mode_of, survivors
from tintype.stack import (
    Connections,
    DataDirectory,
    EngineUnreachable,
    Stack,
    StackPlan,
    Stage,
    StartFailed,
    tintype_programs,
)
from tintype.stack.applications import application_environment
from tintype.stack.nats import check_nats
from tintype.stack.ports import find_obstacle
from tintype.stack.processes import is_alive
from tintype.stack.valkey import check_redis


@pytest.mark.slow
async def test_servers_start_answer_and_leave_nothing_behind(home: Path) -> None:
    async with Stack(home, postgres_servers=2, engines_only=True, durable=False) as stack:
        found = stack.connections
        for dsn in found.postgres:
            assert await fetch_value(dsn, "SELECT 1") == 1
        await check_redis(found.redis)
        await check_nats(found.nats)
        running = stack.processes
        assert [each.name for each in running] == ["postgres-1", "postgres-2", "redis", "nats"]

    identities = [each.identity for each in running if each.identity is not None]
    assert len(identities) == 4
    assert not any(is_alive(each) for each in identities)
    assert survivors(home) == []
    ports = [each.port for each in running if each.port]
    assert all(find_obstacle("127.0.0.1", port) is None for port in ports)
    assert not DataDirectory(home).state.exists()
    with DataDirectory(home).locked():
        pass  # the lock was released


@pytest.mark.slow
async def test_a_second_start_keeps_ports_passwords_and_data_but_an_empty_redis(home: Path) -> None:
    async with Stack(home, engines_only=True, durable=False) as stack:
        first = stack.connections
        await execute(first.postgres[0], "CREATE TABLE kept AS SELECT 42 AS answer")
        async with Redis.from_url(first.redis) as client:
            await client.set("cached", "yes")

    async with Stack(home, engines_only=True, durable=False) as stack:
        assert stack.connections == first
        assert await fetch_value(first.postgres[0], "SELECT answer FROM kept") == 42
        async with Redis.from_url(first.redis) as client:
            assert await client.get("cached") is None


@pytest.mark.slow
async def test_a_durable_stack_has_postgresql_sync_to_disk(home: Path) -> None:
    async with Stack(home, engines_only=True) as stack:
        assert await fetch_value(stack.connections.postgres[0], "SHOW fsync") == "on"
        assert await fetch_value(stack.connections.postgres[0], "SHOW synchronous_commit") == "on"


@pytest.mark.slow
async def test_servers_with_data_start_even_when_fewer_are_configured(home: Path) -> None:
    async with Stack(home, postgres_servers=2, engines_only=True, durable=False):
        pass

    async with Stack(home, postgres_servers=1, engines_only=True, durable=False) as stack:
        assert len(stack.connections.postgres) == 2


@pytest.mark.slow
async def test_programs_get_the_addresses_and_nobody_else_sees_the_secrets(home: Path) -> None:
    written = home / "environment.json"
    programs = [fake_program("tell", str(written), stage=Stage.SETUP), fake_program("worker")]
    plan = StackPlan(home=home, durable=False, http_port=0, mqtt_port=0, mqtt_ws_port=0)
    async with Stack.from_plan(plan, applications=lambda _: programs) as stack:
        environment = json.loads(written.read_text())
        found = stack.connections
        assert json.loads(environment["TINTYPE_POSTGRES"]) == list(found.postgres)
        assert environment["TINTYPE_REDIS"] == found.redis
        assert json.loads(environment["TINTYPE_NATS"]) == list(found.nats)
        assert environment["TINTYPE_HOME"] == str(home)
        commands = [_command_line(each.identity.pid) for each in stack.processes if each.identity]

    secrets = [(home / "secrets" / name).read_text() for name in ("redis", "nats", "nats-system")]
    secrets.append((home / "postgres-1" / "password").read_text().strip())
    shown = "".join([*commands, *(each.read_text() for each in (home / "logs").iterdir()), repr(found)])
    assert not any(secret in shown for secret in secrets)


@pytest.mark.slow
async def test_the_data_directory_is_closed_to_others(home: Path) -> None:
    async with Stack(home, engines_only=True, durable=False):
        directory = DataDirectory(home)
        for folder in (
            directory.logs,
            directory.run,
            directory.secrets,
            home / "redis",
            home / "nats",
            home / "postgres-1",
        ):
            assert mode_of(folder) == 0o700, folder
        for file in (
            directory.state,
            directory.ports,
            *directory.secrets.iterdir(),
            *directory.logs.iterdir(),
        ):
            assert mode_of(file) == 0o600, file
        assert mode_of(home) == (0o711 if os.geteuid() == 0 else 0o700)


async def test_a_failing_migration_stops_everything_and_says_why(plan: StackPlan) -> None:
    programs = [fake_program("fail", "3", stage=Stage.SETUP), fake_program("worker")]
    stack = Stack.from_plan(plan, applications=lambda _: programs)

    with pytest.raises(StartFailed, match=r"(?s)exit code 3.*the schema is from the future"):
        await stack.start()

    assert survivors(plan.home) == []
    with DataDirectory(plan.home).locked():
        pass  # the lock was released


@pytest.mark.slow
async def test_a_start_failure_includes_the_programs_last_output(plan: StackPlan) -> None:
    stack = Stack.from_plan(plan, applications=lambda _: [replace(fake_program("fail", "9"), ready=_never)])

    with pytest.raises(StartFailed, match=r"(?s)died \(exit code 9\).*the schema is from the future"):
        await stack.start()


@pytest.mark.slow
async def test_a_program_that_never_becomes_ready_is_stopped(plan: StackPlan) -> None:
    slow = replace(fake_program("worker"), ready=_never, start_timeout_s=0.5)

    with pytest.raises(StartFailed, match=r"not ready after 0.5 s \(ConnectionError: no answer\)"):
        await Stack.from_plan(plan, applications=lambda _: [slow]).start()
    assert survivors(plan.home) == []


@pytest.mark.slow
async def test_existing_servers_are_used_and_nothing_is_started_for_them(
    plan: StackPlan, tmp_path: Path
) -> None:
    written = tmp_path / "environment.json"
    programs = [fake_program("tell", str(written), stage=Stage.SETUP), fake_program("worker")]
    async with Stack.from_plan(plan, applications=lambda _: programs) as stack:
        assert [each.name for each in stack.processes if each.identity] == ["worker"]
        environment = json.loads(written.read_text())
        assert json.loads(environment["TINTYPE_POSTGRES"]) == list(plan.postgres)

    assert sorted(each.name for each in plan.home.iterdir()) == ["logs", "ports.json", "run", "secrets"]
    assert await fetch_value(plan.postgres[0], "SELECT 1") == 1


@pytest.mark.slow
async def test_an_existing_server_that_does_not_answer_is_named_without_its_password(
    plan: StackPlan, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tintype.stack.assembly._TIMEOUT_S", 0.1)
    wrong = replace(plan, redis="redis://:hush@127.0.0.1:9/0")

    with pytest.raises(EngineUnreachable, match=r"127\.0\.0\.1:9") as refusal:
        await Stack.from_plan(wrong, applications=lambda _: []).start()
    assert "hush" not in str(refusal.value)


async def _never() -> None:
    raise ConnectionError("no answer")


def _command_line(pid: int) -> str:
    return Path(f"/proc/{pid}/cmdline").read_text()


def test_addresses_with_more_rights_reach_the_migration_alone(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.mkdir()
    monkeypatch.setenv("TINTYPE_DIRECTORY_MIGRATOR", "postgresql://migrator@directory")
    monkeypatch.setenv("TINTYPE_POSTGRES_ADMIN", "postgresql://superuser@db")
    connections = Connections(
        home=home,
        postgres=("postgresql://runtime@db",),
        postgres_migrator=("postgresql://migrator@db",),
        redis="redis://",
        nats=(),
    )

    shared = application_environment(connections)
    (migrate, *others) = tintype_programs()(connections)

    assert not any("migrator" in value or "superuser" in value for value in shared.values())
    assert [dict(program.env) for program in others] == [{}, {"TINTYPE_WEB_WORKERS": "1"}]
    assert migrate.env == {
        "TINTYPE_DIRECTORY_MIGRATOR": "postgresql://migrator@directory",
        "TINTYPE_POSTGRES_ADMIN": "postgresql://superuser@db",
        "TINTYPE_POSTGRES_MIGRATOR": '["postgresql://migrator@db"]',
    }
