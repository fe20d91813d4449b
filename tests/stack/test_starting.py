"""The engines start, answer, keep what they must keep, and leave nothing behind."""

import asyncio
import json
import os
from dataclasses import replace
from pathlib import Path

import pytest
from redis.asyncio import Redis

from tests.stack.conftest import ask, execute, mode_of, standin, survivors
from tintype.stack import EngineUnreachable, Home, Plan, Stack, Stage, StartFailed
from tintype.stack.nats import check_nats
from tintype.stack.ports import is_free
from tintype.stack.processes import is_alive
from tintype.stack.valkey import check_redis


async def test_engines_start_answer_and_leave_nothing_behind(home: Path) -> None:
    async with Stack(home, postgres_servers=2, engines_only=True, durable=False) as stack:
        found = stack.connections
        for dsn in found.postgres:
            assert await ask(dsn, "SELECT 1") == 1
        await check_redis(found.redis)
        await check_nats(found.nats)
        for port in (found.mqtt_port, found.mqtt_ws_port):
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.close()
        running = stack.processes
        assert [each.name for each in running] == ["postgres-1", "postgres-2", "redis", "nats"]

    identities = [each.identity for each in running if each.identity is not None]
    assert len(identities) == 4
    assert not any(is_alive(each) for each in identities)
    assert survivors(home) == []
    ports = [each.port for each in running if each.port] + [found.mqtt_port, found.mqtt_ws_port]
    assert all(is_free("127.0.0.1", port) for port in ports)
    assert not Home(home).state.exists()
    with Home(home).locked():
        pass  # it was let go


async def test_a_second_start_keeps_ports_passwords_and_data_but_an_empty_redis(home: Path) -> None:
    async with Stack(home, engines_only=True, durable=False) as stack:
        first = stack.connections
        await execute(first.postgres[0], "CREATE TABLE kept AS SELECT 42 AS answer")
        async with Redis.from_url(first.redis) as client:
            await client.set("cached", "yes")

    async with Stack(home, engines_only=True, durable=False) as stack:
        assert stack.connections == first
        assert await ask(first.postgres[0], "SELECT answer FROM kept") == 42
        async with Redis.from_url(first.redis) as client:
            assert await client.get("cached") is None


async def test_a_durable_stack_has_postgresql_sync_to_disk(home: Path) -> None:
    async with Stack(home, engines_only=True) as stack:
        assert await ask(stack.connections.postgres[0], "SHOW fsync") == "on"
        assert await ask(stack.connections.postgres[0], "SHOW synchronous_commit") == "on"


async def test_servers_that_hold_data_start_even_when_fewer_are_asked_for(home: Path) -> None:
    async with Stack(home, postgres_servers=2, engines_only=True, durable=False):
        pass

    async with Stack(home, postgres_servers=1, engines_only=True, durable=False) as stack:
        assert len(stack.connections.postgres) == 2


async def test_programs_get_the_addresses_and_nobody_else_sees_the_secrets(home: Path) -> None:
    told = home / "told.json"
    programs = [standin("tell", str(told), stage=Stage.SETUP), standin("worker")]
    plan = Plan(home=home, durable=False, http_port=0, mqtt_port=0, mqtt_ws_port=0)
    async with Stack.following(plan, applications=lambda _: programs) as stack:
        environment = json.loads(told.read_text())
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


async def test_the_home_is_closed_to_others(home: Path) -> None:
    async with Stack(home, engines_only=True, durable=False):
        place = Home(home)
        for folder in (
            place.logs,
            place.run,
            place.secrets,
            home / "redis",
            home / "nats",
            home / "postgres-1",
        ):
            assert mode_of(folder) == 0o700, folder
        for file in (place.state, place.ports, *place.secrets.iterdir(), *place.logs.iterdir()):
            assert mode_of(file) == 0o600, file
        assert mode_of(home) == (0o711 if os.geteuid() == 0 else 0o700)


async def test_a_failing_migration_stops_everything_and_says_why(plan: Plan) -> None:
    programs = [standin("fail", "3", stage=Stage.SETUP), standin("worker")]
    stack = Stack.following(plan, applications=lambda _: programs)

    with pytest.raises(StartFailed, match=r"(?s)exit code 3.*the schema is from the future"):
        await stack.start()

    assert survivors(plan.home) == []
    with Home(plan.home).locked():
        pass  # it was let go


async def test_a_program_that_cannot_start_is_explained_with_its_last_words(plan: Plan) -> None:
    stack = Stack.following(plan, applications=lambda _: [replace(standin("fail", "9"), ready=_never)])

    with pytest.raises(StartFailed, match=r"(?s)died \(exit code 9\).*the schema is from the future"):
        await stack.start()


async def test_a_program_that_never_gets_ready_is_ended(plan: Plan) -> None:
    slow = replace(standin("worker"), ready=_never, start_timeout_s=0.5)

    with pytest.raises(StartFailed, match=r"not ready after 0.5 s \(ConnectionError: no answer\)"):
        await Stack.following(plan, applications=lambda _: [slow]).start()
    assert survivors(plan.home) == []


async def test_existing_servers_are_used_and_nothing_is_started_for_them(plan: Plan, tmp_path: Path) -> None:
    told = tmp_path / "told.json"
    programs = [standin("tell", str(told), stage=Stage.SETUP), standin("worker")]
    async with Stack.following(plan, applications=lambda _: programs) as stack:
        assert [each.name for each in stack.processes if each.identity] == ["worker"]
        environment = json.loads(told.read_text())
        assert json.loads(environment["TINTYPE_POSTGRES"]) == list(plan.postgres)

    assert sorted(each.name for each in plan.home.iterdir()) == ["logs", "ports.json", "run", "secrets"]
    assert await ask(plan.postgres[0], "SELECT 1") == 1


async def test_an_existing_server_that_does_not_answer_is_named_without_its_password(
    plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tintype.stack.assembly._PATIENCE_S", 0.1)
    wrong = replace(plan, redis="redis://:hush@127.0.0.1:9/0")

    with pytest.raises(EngineUnreachable, match=r"127\.0\.0\.1:9") as refusal:
        await Stack.following(wrong, applications=lambda _: []).start()
    assert "hush" not in str(refusal.value)


async def _never() -> None:
    raise ConnectionError("no answer")


def _command_line(pid: int) -> str:
    return Path(f"/proc/{pid}/cmdline").read_text()
