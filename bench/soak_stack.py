"""An installation for `bench soak`, as operators run it: `tintype up` with its defaults, in a process of its own."""

import asyncio
import os
import sys
import tempfile
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from subprocess import Popen

from bench.site_processes import CHECKOUT, NO_REFUSALS, free_port
from tintype.stack import (
    DataDirectory,
    MemoryUse,
    Phase,
    StackStatus,
    memory_of,
    memory_of_tree,
    read_status,
)

START_S = 180.0
STOP_S = 60.0
SUPERVISOR = "supervisor"


@dataclass(frozen=True)
class RunningStack:
    """`tintype up` and everything it has started."""

    home: DataDirectory
    port: int

    def memory_mb(self) -> dict[str, float]:
        """PSS of every program with its children, in MB: pages that several processes share count once."""
        status = read_status(self.home)
        supervisor = memory_of(status.supervisor_pid) if status.supervisor_pid else None
        used = {SUPERVISOR: supervisor or MemoryUse()}
        for program in status.processes:
            if program.phase is not Phase.DONE:
                used[program.name] = memory_of_tree(program.pid) if program.pid else MemoryUse()
        return {name: each.proportional_bytes / 1e6 for name, each in used.items()}

    def count_restarts(self) -> int:
        """How often a program has died and been started again."""
        return sum(each.restarts for each in read_status(self.home).processes)


@asynccontextmanager
async def running_stack() -> AsyncGenerator[RunningStack]:
    """Run `tintype up` on an empty data directory for the length of the block."""
    with tempfile.TemporaryDirectory(prefix="tintype-bench-") as folder:
        Path(folder).chmod(0o711)  # noqa: ASYNC240 - one call; the servers' account must traverse it
        home, port = DataDirectory(Path(folder) / "home"), free_port()
        command = [sys.executable, "-m", "tintype", "up", f"--home={home.root}", f"--port={port}"]
        chosen = {"RATE_LIMITS": NO_REFUSALS, "LOG_LEVEL": "error", "METRICS_PORT": str(free_port())}
        environment = os.environ | {f"TINTYPE_{name}": value for name, value in chosen.items()}
        output = Path(folder) / "up.txt"
        process = _start(command, environment, output)
        try:
            await _wait_until_ready(home, process, output)
            yield RunningStack(home, port)
        finally:
            process.terminate()
            process.wait(STOP_S)


def _start(command: list[str], environment: dict[str, str], output: Path) -> "Popen[bytes]":
    with output.open("wb") as log:
        return Popen(command, env=environment, cwd=CHECKOUT, stdout=log, stderr=log)


async def _wait_until_ready(home: DataDirectory, process: "Popen[bytes]", output: Path) -> None:
    deadline = time.monotonic() + START_S
    while not _is_ready(read_status(home), process.pid):
        if process.poll() is not None or time.monotonic() > deadline:
            said = output.read_text(errors="replace")  # noqa: ASYNC240 - nothing else runs
            raise RuntimeError(f"`tintype up` did not start.\n{said}")
        await asyncio.sleep(0.2)


def _is_ready(status: StackStatus, pid: int) -> bool:
    return status.supervisor_pid == pid and status.is_ready
