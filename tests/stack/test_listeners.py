"""What a living stack listens on, exactly, and that each listener refuses somebody without credentials."""

import asyncio
import contextlib
import json
import pwd
import socket
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import asyncpg
import pytest
from httpx import AsyncClient
from redis.asyncio import Redis
from redis.exceptions import AuthenticationError, NoPermissionError

from tests.living_stack import LivingStack, open_living_stack
from tests.stack.conftest import mode_of, only_root
from tests.support import on_server
from tintype.base.settings import Settings
from tintype.stack import DataDirectory, read_status
from tintype.stack.engine_account import ENGINE_ACCOUNT
from tintype.stack.processes import find_marked

pytestmark = pytest.mark.slow
LISTEN = "0A"


@pytest.fixture(scope="module")
async def stack() -> AsyncIterator[LivingStack]:
    """A stack on a machine where something else has the port that metrics are served on by default."""
    with socket.socket() as other:
        with contextlib.suppress(OSError):  # another program has it already
            other.bind(("127.0.0.1", Settings().metrics_port))
            other.listen()
        async with open_living_stack() as found:
            yield found


def addresses(stack: LivingStack, name: str) -> list[str]:
    """The addresses of one kind of server, with their passwords."""
    known: dict[str, Any] = json.loads((stack.home / "secrets" / "addresses.json").read_text())
    found: str | list[str] = known[name]
    return [found] if isinstance(found, str) else found


def metrics_port(stack: LivingStack) -> int:
    return read_status(DataDirectory(stack.home)).metrics_port or 0


def listeners(stack: LivingStack) -> set[tuple[str, int]]:
    """Every TCP socket on which a process of the stack listens."""
    inodes = {
        link.readlink().name.removeprefix("socket:[").removesuffix("]")
        for each in find_marked(DataDirectory(stack.home).mark)
        for link in Path(f"/proc/{each.pid}/fd").iterdir()
        if str(link.readlink()).startswith("socket:")
    }
    found: set[tuple[str, int]] = set()
    for table, family in (("tcp", socket.AF_INET), ("tcp6", socket.AF_INET6)):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == LISTEN and fields[9] in inodes:
                host, port = fields[1].split(":")
                raw = bytes.fromhex(host)
                words = [raw[start : start + 4][::-1] for start in range(0, len(raw), 4)]
                found.add((socket.inet_ntop(family, b"".join(words)), int(port, 16)))
    return found


async def test_nothing_else_listens_and_nothing_beyond_this_machine(stack: LivingStack) -> None:
    servers = [dsn for name in ("postgres_admin", "redis", "nats") for dsn in addresses(stack, name)]
    ports = {urlsplit(each).port for each in servers}
    ports.add(int(addresses(stack, "mqtt_upstream")[0].rpartition(":")[2]))  # for the web process
    wanted = {("127.0.0.1", port) for port in (*ports, stack.port, metrics_port(stack))}

    assert listeners(stack) == wanted
    assert len(ports) == 5


async def test_metrics_are_on_the_next_port_where_theirs_is_taken(stack: LivingStack) -> None:
    async with AsyncClient() as client:
        answer = await client.get(f"http://127.0.0.1:{metrics_port(stack)}/metrics")

    assert metrics_port(stack) != Settings().metrics_port
    assert "tintype_connections" in answer.text
    (note,) = read_status(DataDirectory(stack.home)).notes
    assert f"port {Settings().metrics_port} is taken by" in note


async def test_postgresql_refuses_whoever_has_no_password(stack: LivingStack) -> None:
    for dsn in addresses(stack, "postgres_admin"):
        port = urlsplit(dsn).port
        for user in ("postgres", "tintype_owner", "tintype_runtime", "tintype_reader", "nobody"):
            with pytest.raises(
                (asyncpg.InvalidPasswordError, asyncpg.InvalidAuthorizationSpecificationError)
            ):
                await asyncpg.connect(f"postgresql://{user}:wrong@127.0.0.1:{port}/postgres")


async def test_valkey_refuses_strangers_and_administration(stack: LivingStack) -> None:
    url = addresses(stack, "redis")[0]
    stranger = Redis.from_url(f"redis://127.0.0.1:{urlsplit(url).port}")
    with pytest.raises(AuthenticationError):
        await stranger.ping()
    await stranger.aclose()

    own = Redis.from_url(url)
    assert await own.ping()
    for command in (
        "CONFIG GET dir",
        "SHUTDOWN",
        "REPLICAOF a 1",
        "ACL LIST",
        "MODULE LIST",
        "SAVE",
    ):
        with pytest.raises(NoPermissionError):
            await own.execute_command(*command.split())
    await own.aclose()


async def test_nats_refuses_strangers_and_has_no_monitor(stack: LivingStack) -> None:
    port = urlsplit(addresses(stack, "nats")[0]).port
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b'CONNECT {"verbose":false}\r\nPING\r\n')
    await writer.drain()
    answer = (await reader.read()).decode()
    writer.close()

    assert "Authorization Violation" in answer
    assert "http" not in (stack.home / "nats" / "nats.conf").read_text()


async def test_the_application_signs_in_as_a_role_that_owns_nothing(stack: LivingStack) -> None:
    for dsn in stack.dsns():
        sessions = await on_server(
            dsn,
            "SELECT DISTINCT usename FROM pg_stat_activity WHERE backend_type = 'client backend' "
            "AND usename IS NOT NULL AND pid <> pg_backend_pid()",  # without one, it is still signing in
        )
        assert {row["usename"] for row in sessions} == {"tintype_runtime"}
        owners = await on_server(
            dsn,
            "SELECT DISTINCT c.relowner::regrole::text AS owner FROM pg_class AS c "
            "JOIN pg_namespace AS n ON n.oid = c.relnamespace "
            "WHERE n.nspname ~ '^(s[0-9]{4}|common|shardwright.*)$'",
        )
        assert {row["owner"] for row in owners} == {"tintype_owner"}
        powers = await on_server(
            dsn,
            "SELECT 1 FROM pg_roles WHERE rolname LIKE 'tintype%' AND (rolsuper OR rolcreaterole OR rolcreatedb)",
        )
        assert powers == []


def test_only_the_migration_is_given_addresses_with_more_rights(stack: LivingStack) -> None:
    for name, pid in stack.programs():
        if name in ("web", "worker"):
            held = Path(f"/proc/{pid}/environ").read_bytes()
            assert b"tintype_runtime" in held
            assert b"tintype_migrator" not in held
            assert b"postgres:" not in held


@only_root
def test_as_root_each_server_runs_as_an_account_that_nobody_else_has(stack: LivingStack) -> None:
    account = pwd.getpwnam(ENGINE_ACCOUNT)
    assert account.pw_name != "nobody"
    assert account.pw_shell.endswith("nologin")
    running = dict(stack.programs())
    for name in ("postgres-1", "postgres-2", "redis", "nats"):
        assert Path(f"/proc/{running[name]}").stat().st_uid == account.pw_uid
    for folder in ("postgres-1", "redis", "nats"):
        assert mode_of(stack.home / folder) & 0o077 == 0
