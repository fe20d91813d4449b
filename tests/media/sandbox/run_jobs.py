"""Asking for jobs, and looking at what became of their processes."""

import asyncio
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tintype.media.sandbox import JobLimits, SandboxOptions, run_in_sandbox
from tintype.media.sandbox.connection import close_fork_server, configure_sandbox

CHECKOUT = Path(__file__).resolve().parents[3]
MISBEHAVING = "tests.media.sandbox.misbehaving_jobs"
NOTHING: Mapping[str, Path] = {}
TINY = JobLimits(cpu_s=1, file_bytes=4 << 20)


async def do(
    name: str,
    arguments: Any = None,
    timeout_s: float = 30,
    source: Path | None = None,
    outs: Mapping[str, Path] = NOTHING,
    progress: Path | None = None,
) -> Any:
    """Run a job of these tests."""
    return await run_in_sandbox(name, arguments, timeout_s, source=source, outs=outs, progress=progress)


@contextmanager
def configured_sandbox(options: SandboxOptions) -> Generator[None]:
    """Jobs run under a fork server of these options, until the end of the block."""
    close_fork_server()
    former = configure_sandbox(options)
    try:
        yield
    finally:
        close_fork_server()
        configure_sandbox(former)


def files_in(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir())


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


async def until(condition: Any, patience_s: float = 20) -> None:
    deadline = time.monotonic() + patience_s
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        await asyncio.sleep(0.02)


async def start_sleeper(tmp_path: Path, name: str = "pid") -> tuple[asyncio.Task[Any], int]:
    """A job that sleeps for ten minutes, and its process id."""
    marker = tmp_path / name
    sleeper = asyncio.create_task(do("sleep", timeout_s=600, progress=marker))
    await until(lambda: marker.exists() and marker.read_text())
    return sleeper, int(marker.read_text())
