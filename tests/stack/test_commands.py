"""The commands, as typed: up, status, logs, down, with the real web and worker behind them."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from shardwright.topology import Directory
from tests.stack.conftest import state_of, survivors
from tintype.stack import tree
from tintype.stack.processes import listening_inodes, open_files
from tintype.stack.state import Phase

Tintype = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def tintype(home: Path, tmp_path: Path) -> Iterator[Tintype]:
    """Run a command in its own data directory; everything is stopped after the test."""
    chosen = {
        "TINTYPE_HOME": str(home),
        "TINTYPE_SHARD_COUNT": "4",
        "TINTYPE_CONFIG": str(tmp_path / "tintype.toml"),
    }

    def run(*arguments: str) -> "subprocess.CompletedProcess[str]":
        command = [sys.executable, "-m", "tintype", *arguments]
        return subprocess.run(
            command, env=os.environ | chosen, check=False, capture_output=True, text=True, timeout=240
        )

    yield run
    run("down")


@pytest.mark.slow
def test_up_status_logs_doctor_and_down_work_together(home: Path, tintype: Tintype) -> None:
    started = tintype("up", "--detach", "--web", "2", "--workers", "2")
    assert started.returncode == 0, started.stdout + started.stderr
    assert "Tintype is running" in started.stdout
    assert "2 web processes, 2 workers" in started.stdout
    assert str(home) in started.stdout

    status = tintype("status", "--json")
    assert status.returncode == 0
    shown = json.loads(status.stdout)
    names = [each["name"] for each in shown["processes"]]
    assert names == ["postgres-1", "redis", "nats", "migrate", "worker-1", "worker-2", "web"]
    assert shown["address"] in started.stdout
    running = {each["name"]: each for each in shown["processes"] if each["name"] != "migrate"}
    assert all(each["memory_bytes"] > 1024**2 for each in running.values())
    assert running["web"]["process_count"] >= 3  # a parent and its two
    assert running["postgres-1"]["process_count"] >= 8  # with its backends
    assert shown["memory_bytes"] > sum(each["memory_bytes"] for each in running.values())
    assert "max_connections = '76'" in (home / "postgres-1" / "postgresql.conf").read_text()
    table = tintype("status").stdout
    assert "procs" in table
    assert f"{running['worker-2']['pid']}" in table

    roles = tintype("roles", "--reader")
    assert roles.returncode == 0, roles.stderr
    assert "tintype_reader:" in roles.stdout
    assert "0 schemas were handed over" in roles.stdout
    assert tintype("migrate").returncode == 0

    refused = tintype("up")
    assert refused.returncode == 1
    assert "already running" in refused.stderr

    web = running["web"]
    _until(lambda: len(_listeners(web)) == 2)
    first, second = _listeners(web)
    os.kill(first, signal.SIGKILL)
    os.kill(running["worker-1"]["pid"], signal.SIGKILL)
    _until(lambda: second in _listeners(web) and len(_listeners(web)) == 2)
    assert first not in _listeners(web)
    for _ in range(20):
        assert httpx.get(f"{shown['address']}/healthz").status_code == 200
    _until(lambda: _is_back(home, "worker-1"))
    assert next(each.restarts for each in state_of(home).processes if each.name == "web") == 0

    os.kill(web["pid"], signal.SIGKILL)
    _until(lambda: _is_back(home, "web"))

    said = tintype("logs", "tintype")
    assert "web died (killed by SIGKILL)" in said.stdout
    assert "worker-1 died (killed by SIGKILL)" in said.stdout
    assert tintype("doctor", "--json").returncode == 0

    stopped = tintype("down")
    assert stopped.returncode == 0
    assert "Stopped" in stopped.stdout
    assert survivors(home) == []
    assert "Nothing was running" in tintype("down").stdout
    assert tintype("status").returncode == 3


def _listeners(web: dict[str, int]) -> list[int]:
    """The web processes that listen on the port, each by itself: the kernel spreads connections over them."""
    sockets = [f"socket:[{inode}]" for inode in listening_inodes(web["port"])]
    return [pid for pid in tree(web["pid"]) if not set(sockets).isdisjoint(open_files(pid))]


def _is_back(home: Path, name: str) -> bool:
    row = next(each for each in state_of(home).processes if each.name == name)
    return row.restarts == 1 and row.phase is Phase.READY


def _until(fact: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 90
    while not fact():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.slow
def test_shards_move_on_a_live_site_without_addresses_of_a_superuser(tintype: Tintype) -> None:
    started = tintype("up", "--detach", "--servers", "2", "--web", "1", "--workers", "1")
    assert started.returncode == 0, started.stdout + started.stderr
    address = json.loads(tintype("status", "--json").stdout)["address"]

    moved = tintype("shards", "move", "1", "--to", "pg1", "--keep", "1h")
    assert moved.returncode == 0, moved.stderr
    assert "rows were compared and are equal" in moved.stderr
    assert httpx.get(f"{address}/healthz", timeout=30).status_code == 200
    (kept,) = json.loads(tintype("shards", "move", "status", "--json").stdout)
    assert tintype("shards", "move", "back", str(kept["move"])).returncode == 0
    assert tintype("shards", "move", "finish", str(kept["move"])).returncode == 0

    drained = tintype("shards", "drain", "pg2", "--sample", "0", "--json")
    assert drained.returncode == 0, drained.stderr
    assert json.loads(drained.stdout)["after"]["pg2"]["shards"] == 0
    assert tintype("migrate").returncode == 0  # registers servers again, and leaves pg2 as it is
    assert json.loads(tintype("shards", "set-server", "pg2", "--json").stdout)["accepts_new"] is False
    assert tintype("shards", "add-server", "pg2").returncode == 0
    shown = tintype("shards", "split", "pg1", "--to", "pg2", "--sample", "0", "--dry-run")
    assert "pg1 → pg2: 2 shards" in shown.stdout
    refused = tintype("shards", "add-server", "pg3", "postgresql://elsewhere/app")
    assert "raise `postgres_servers`" in refused.stderr


@pytest.mark.slow
def test_up_with_replicas_enters_them_into_the_map_and_shows_their_lag(home: Path, tintype: Tintype) -> None:
    started = tintype("up", "--detach", "--replicas", "1")
    assert started.returncode == 0, started.stdout + started.stderr
    shown = json.loads(tintype("status", "--json").stdout)
    [replica] = shown["replicas"]
    assert (replica["server"], replica["state"]) == ("pg1", "following")
    assert "replica of" in tintype("status").stdout
    findings = json.loads(tintype("doctor", "--json").stdout)
    assert [each["verdict"] for each in findings if each["subject"].startswith("replica of pg1")] == ["ok"]
    addresses = json.loads((home / "secrets" / "addresses.json").read_bytes())
    assert _replicas_of_map(addresses["postgres"][0]) == [replica["address"]]
    tintype("down")

    assert tintype("up", "--detach").returncode == 0
    assert json.loads(tintype("status", "--json").stdout)["replicas"] == []
    assert _replicas_of_map(addresses["postgres"][0]) == []


def _replicas_of_map(dsn: str) -> list[str]:
    async def load() -> list[str]:
        directory = await Directory.open(dsn, dsns={"pg1": dsn})
        try:
            return list((await directory.load()).servers["pg1"].replicas)
        finally:
            await directory.close()

    return asyncio.run(load())
