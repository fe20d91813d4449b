"""The commands, as typed: up, status, logs, down, with the real web and worker behind them."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.stack.conftest import state_of, survivors
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
    started = tintype("up", "--detach")
    assert started.returncode == 0, started.stdout + started.stderr
    assert "Tintype is running" in started.stdout
    assert str(home) in started.stdout

    status = tintype("status", "--json")
    assert status.returncode == 0
    shown = json.loads(status.stdout)
    names = [each["name"] for each in shown["processes"]]
    assert names == ["postgres-1", "redis", "nats", "migrate", "worker", "web"]
    assert shown["address"] in started.stdout

    roles = tintype("roles", "--reader")
    assert roles.returncode == 0, roles.stderr
    assert "tintype_reader:" in roles.stdout
    assert "0 schemas were handed over" in roles.stdout
    assert tintype("migrate").returncode == 0

    refused = tintype("up")
    assert refused.returncode == 1
    assert "already running" in refused.stderr

    web = next(each for each in shown["processes"] if each["name"] == "web")
    os.kill(web["pid"], signal.SIGKILL)
    _until(lambda: _is_back(home, "web"))

    said = tintype("logs", "tintype")
    assert "web died (killed by SIGKILL)" in said.stdout
    assert tintype("doctor", "--json").returncode == 0

    stopped = tintype("down")
    assert stopped.returncode == 0
    assert "Stopped" in stopped.stdout
    assert survivors(home) == []
    assert "Nothing was running" in tintype("down").stdout
    assert tintype("status").returncode == 3


def _is_back(home: Path, name: str) -> bool:
    row = next(each for each in state_of(home).processes if each.name == name)
    return row.restarts == 1 and row.phase is Phase.READY


def _until(fact: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 90
    while not fact():
        assert time.monotonic() < deadline
        time.sleep(0.05)
