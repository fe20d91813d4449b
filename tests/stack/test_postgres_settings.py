"""Settings of the embedded PostgreSQL servers: connections for all processes, memory by the machine's."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.stack.conftest import fetch_value
from tintype.base.settings import Settings, load_settings
from tintype.stack import Stack, stack_plan
from tintype.stack.machine import Machine, ProcessCounts
from tintype.stack.postgres_settings import postgres_settings
from tintype.wiring import pool_options

_GIB = 1024**3


@pytest.mark.parametrize(
    ("memory_gib", "buffers"),
    [(1, "64MB"), (2, "64MB"), (16, "64MB"), (64, "1024MB"), (1024, "8192MB")],
)
def test_buffers_by_memory(memory_gib: int, buffers: str) -> None:
    made = postgres_settings(
        Machine(2, memory_gib * _GIB), ProcessCounts(1, 1), connections=8, shard_count=64
    )
    assert made["shared_buffers"] == buffers


def test_pool_sizes_are_settings_and_the_embedded_servers_allow_them(tmp_path: Path) -> None:
    given_sizes = {"TINTYPE_POSTGRES_SPARE_CONNECTIONS": "30", "TINTYPE_POSTGRES_GATHER_CONNECTIONS": "20"}
    environ = {"TINTYPE_HOME": str(tmp_path), "TINTYPE_WEB_WORKERS": "4", "TINTYPE_WORKER_COUNT": "2"}
    loaded = load_settings(environ={**environ, **given_sizes}, file=tmp_path / "none.toml")
    options = pool_options(loaded.settings, "web")

    assert (options.max_connections, options.spare_connections, options.gather_connections) == (4, 30, 20)
    assert int(stack_plan(loaded).postgres_settings["max_connections"]) > 6 * 54


@given(st.integers(1, 64), st.integers(1, 64), st.integers(1, 64), st.integers(1, 8192))
def test_every_process_gets_its_connections_and_a_dump_its_locks(
    web: int, workers: int, connections: int, shard_count: int
) -> None:
    made = postgres_settings(
        Machine(8, 16 * _GIB), ProcessCounts(web, workers), connections=connections, shard_count=shard_count
    )

    allowed = int(made["max_connections"])
    options, watching = pool_options(Settings(postgres_connections=connections), "web"), 2
    pooled = options.max_connections + options.spare_connections + options.gather_connections
    assert allowed > (web + workers) * (pooled + watching)
    assert allowed * int(made["max_locks_per_transaction"]) > 80 * shard_count


@pytest.mark.slow
async def test_a_server_starts_with_them(home: Path, tmp_path: Path) -> None:
    loaded = load_settings(environ={"TINTYPE_HOME": str(home)}, file=tmp_path / "tintype.toml")
    plan = replace(stack_plan(loaded), durable=False, role_prefix="", metrics_port=0)
    async with Stack.from_plan(plan, applications=lambda _: []) as stack:
        for name, value in plan.postgres_settings.items():
            assert await fetch_value(stack.connections.postgres[0], f"SHOW {name}") in {value, _short(value)}


def _short(value: str) -> str:
    """A number of megabytes as the server shows it."""
    megabytes = value.removesuffix("MB")
    return f"{int(megabytes) // 1024}GB" if megabytes.isdecimal() and int(megabytes) % 1024 == 0 else value
