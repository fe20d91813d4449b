"""Embedded PostgreSQL servers: shardwright prepares the folder, the supervisor runs the process."""

import asyncio
import os
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import cast

import asyncpg
from asyncpg import Connection

from shardwright.local import ServerFiles, prepare
from tintype.stack.engine_account import ENGINE_ACCOUNT
from tintype.stack.errors import DataDirectoryUnusable
from tintype.stack.processes import Identity, end, find_working_in, identify, wait_gone
from tintype.stack.program import Program, Stage

LOG_SETTINGS = {
    "log_line_prefix": "[%p] ",  # the supervisor adds the time
    "log_checkpoints": "off",
    "log_min_duration_statement": "1000",
    "log_parameter_max_length": "0",  # captions and addresses stay out of the log
    "log_parameter_max_length_on_error": "0",
    "log_error_verbosity": "terse",  # without DETAIL, which quotes rows
}
_CONNECT_TIMEOUT_S = 5
_NOBODY = 2**31 - 2
"""A pid beyond the kernel's largest."""


async def postgres_program(
    number: int, folder: Path, port: int, *, durable: bool, settings: Mapping[str, str]
) -> tuple[Program, ServerFiles]:
    """Return the program and its folder; the first call for a folder runs initdb."""
    is_new = not (folder / "data" / "PG_VERSION").exists()
    files = await asyncio.to_thread(
        prepare,
        folder,
        port=port,
        durable=durable,
        settings={**LOG_SETTINGS, **settings},
        account_name=ENGINE_ACCOUNT,
    )
    check_version(files)
    if is_new and durable:
        await asyncio.to_thread(
            os.sync
        )  # initdb leaves this to us: a new cluster must survive a power cut too
    return server_program(f"postgres-{number}", Stage.POSTGRES, files), files


def server_program(name: str, stage: Stage, files: ServerFiles) -> Program:
    """Return the program that runs the server of a prepared folder."""
    dsn = files.dsn()
    return Program(
        name=name,
        command=tuple(files.command()),
        stage=stage,
        env={"PGDATA": str(files.directory), "LC_ALL": "C", "TZ": "UTC"},
        cwd=files.directory,
        account=files.account,
        ready=lambda: _check_started(files.data, dsn),
        before_start=lambda: remove_leftovers(files.data),
        stop_signal=signal.SIGINT,  # "fast": ends sessions, writes a checkpoint
        grace_s=30.0,
        start_timeout_s=600.0,  # recovery after a crash of the machine may replay much
        port=files.port,
    )


async def _check_started(data: Path, dsn: str) -> None:
    """Like `check_postgres`, but connects only once postmaster.pid says ready: earlier the server would log errors."""
    lines = (data / "postmaster.pid").read_text().splitlines()
    if not lines or lines[-1].strip() not in ("ready", "standby"):
        raise ConnectionError("still starting")
    await check_postgres(dsn)


async def check_postgres(dsn: str) -> None:
    """Raise unless the server accepts a connection and answers a query."""
    connection = cast("Connection", await asyncpg.connect(dsn, timeout=_CONNECT_TIMEOUT_S))
    try:
        await connection.fetchval("SELECT 1", timeout=_CONNECT_TIMEOUT_S)
    finally:
        await connection.close(timeout=_CONNECT_TIMEOUT_S)


def check_version(files: ServerFiles) -> None:
    """Refuse data of another major version: only a dump or pg_upgrade can convert it."""
    made_by = (files.data / "PG_VERSION").read_text().strip()
    if made_by != str(files.binaries.major):
        raise DataDirectoryUnusable(
            f"PostgreSQL {made_by} created the data in {files.data}, but {files.binaries.version} is installed. "
            "Dump it with the old version and restore it with the new one, or run pg_upgrade; see docs/operating.md."
        )


async def remove_leftovers(data: Path) -> None:
    """Remove what a crashed server left behind and would prevent the next start.

    Backends whose postmaster was killed are stopped (a busy one would go on writing), and a reused pid in
    postmaster.pid is replaced by one that cannot exist. The file itself stays: PostgreSQL reads from it
    whether the old shared memory is still in use.
    """
    postmaster = _postmaster(data)
    if postmaster is not None and await wait_gone([postmaster], 5.0):
        raise DataDirectoryUnusable(
            f"A PostgreSQL server that we did not start (pid {postmaster.pid}) runs in {data}. "
            f"Stop it first: pg_ctl -D {data} stop"
        )
    orphans = find_working_in(data, "postgres")
    await end(orphans, (signal.SIGQUIT, 2.0), (signal.SIGKILL, 2.0))
    _retire_pid(data / "postmaster.pid")


def _postmaster(data: Path) -> Identity | None:
    """The running process that postmaster.pid names, if it really is a server of this folder."""
    pid = _recorded_pid(data / "postmaster.pid")
    return next((each for each in find_working_in(data, "postgres") if each.pid == pid), None)


def _recorded_pid(pid_file: Path) -> int | None:
    try:
        return int(pid_file.read_text().splitlines()[0])
    except (FileNotFoundError, IndexError, ValueError):
        return None  # no file, or truncated by a crash


def _retire_pid(pid_file: Path) -> None:
    """Replace the recorded pid when an unrelated process has it now: PostgreSQL would refuse to start."""
    pid = _recorded_pid(pid_file)
    if pid is not None and identify(pid) is not None:
        lines = pid_file.read_text().splitlines(keepends=True)
        with pid_file.open("r+") as file:  # in place: owner and mode stay PostgreSQL's
            file.write("".join([f"{_NOBODY}\n", *lines[1:]]))
            file.truncate()
