"""Finds out which walls this machine allows, before the first file of a stranger comes."""

import asyncio
import contextlib
import subprocess
import sys
from collections.abc import AsyncGenerator

import msgspec

from tintype.base.log import get_log
from tintype.media.sandbox.connection import clean_environment
from tintype.media.sandbox.walls import Wall

TIMEOUT_S = 60

log = get_log("media")


def check_walls() -> list[Wall]:
    """Every wall of the sandbox: whether it stands on this machine, and if not, why and what to do."""
    command = [sys.executable, "-m", "tintype.media.sandbox.wall_probe"]
    try:
        done = subprocess.run(
            command, capture_output=True, check=True, env=clean_environment(), timeout=TIMEOUT_S
        )
        return msgspec.json.decode(done.stdout, type=list[Wall])
    except subprocess.CalledProcessError as error:
        why = error.stderr.decode(errors="replace").strip().rpartition("\n")[2] or str(error)
    except (subprocess.TimeoutExpired, msgspec.DecodeError, OSError) as error:
        why = str(error)
    fix = f"Run it by hand to see more: {' '.join(command)}"
    return [Wall(name="sandbox", is_up=False, is_essential=True, why_not=why, fix=fix)]


@contextlib.asynccontextmanager
async def log_missing_walls() -> AsyncGenerator[None]:
    """During the block, check once and log every wall that is missing on this machine."""
    checking = asyncio.create_task(asyncio.to_thread(_log_missing_walls))
    try:
        yield
    finally:
        await checking


def _log_missing_walls() -> None:
    for wall in check_walls():
        if not wall.is_up:
            report = log.error if wall.is_essential else log.warning
            report("media.sandbox_wall_missing", wall=wall.name, why=wall.why_not, fix=wall.fix)
