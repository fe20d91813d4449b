"""The data of an embedded replica: copied from its primary, adopted when it was promoted, never lost by accident.

A replica's data can always be copied again, unless it was promoted: then it is the newest there is. PostgreSQL removes
`standby.signal` when it promotes, so data without that file are never replaced.
"""

import asyncio
import itertools
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path

from shardwright.local import ServerFiles, base_backup_command
from tintype.stack.child_process import spawn
from tintype.stack.data_directory import DataDirectory, write_private
from tintype.stack.errors import StartFailed
from tintype.stack.processes import MARK
from tintype.stack.program import Program, Stage

_REMAKE = "remake"
"""File beside the data with the reason why they are of no use any more."""
_SIGNAL = "standby.signal"
_NOT_LOWER = ("max_connections", "max_worker_processes", "max_wal_senders", "max_prepared_xacts")
"""Settings that a standby must have at least as high as its primary had when it wrote the WAL, by their names in
pg_control."""
_RENAMED = {"max_prepared_xacts": "max_prepared_transactions"}


def has_data(data: Path) -> bool:
    """Whether there is a complete copy."""
    return (data / "PG_VERSION").exists()


def is_promoted(data: Path) -> bool:
    """Whether the replica has become a primary."""
    return has_data(data) and not (data / _SIGNAL).exists()


def mark_useless(folder: Path, reason: str) -> None:
    """Have the data copied anew at the next start."""
    write_private(folder / _REMAKE, reason)


def find_reason_to_copy(folder: Path, major: int) -> str | None:
    """Why the data must be copied from the primary before the next start; None when they are of use."""
    data = folder / "data"
    if is_promoted(data):
        return None
    if not has_data(data):
        return "it is new"
    made_by = (data / "PG_VERSION").read_text().strip()
    if made_by != str(major):
        return f"its data are of PostgreSQL {made_by}"
    marker = folder / _REMAKE
    return marker.read_text() if marker.exists() else None


async def copy_primary(primary: ServerFiles, folder: Path, slot: str, mark: str, *, durable: bool) -> None:
    """Replace the replica's data by a copy of the running primary; a copy cut short is begun again next time."""
    data, unfinished = folder / "data", folder / "data.unfinished"
    for useless in (unfinished, data):
        await asyncio.to_thread(shutil.rmtree, useless, ignore_errors=True)
    command, environment = base_backup_command(primary, unfinished)
    options = [f"--slot={slot}", *([] if durable else ["--no-sync"])]
    program = Program(
        name="pg_basebackup",
        command=(*command, *options),
        stage=Stage.REPLICA,
        cwd=folder,
        account=primary.account,
    )
    lines: list[str] = []
    path = {"PATH": os.environ.get("PATH", os.defpath)}
    process = await spawn(program, {**path, **environment, MARK: mark}, mark, lines.append)
    try:
        code = await process.wait()
    except BaseException:
        await process.stop(signal.SIGTERM, 2.0)
        raise
    if code != 0:
        raise StartFailed(f"the copy of the primary failed: {' '.join(lines[-3:])}")
    write_private(unfinished / _SIGNAL, "", primary.account)
    unfinished.rename(data)
    (folder / _REMAKE).unlink(missing_ok=True)


def adopt_promoted(home: DataDirectory, number: int) -> list[str]:
    """Make the replica that was promoted the server itself, and keep what the server had; returns notes.

    Every promotion begins a timeline. One that is no newer than the server's was promoted beside what has become the
    server: it is put aside, since two primaries would both take writes. Interrupted anywhere, it goes on at the next
    start.
    """
    server = home.postgres(number)
    promoted = [each for each in home.replicas(number) if is_promoted(each / "data")]
    newest = max(promoted, key=_timeline, default=None)
    if newest is None:
        return []
    notes: list[str] = []
    if not server.exists() or _timeline(newest) > _timeline(server):
        promoted.remove(newest)
        former = _former(server)
        if server.exists():
            server.rename(former)
        newest.rename(server)
        notes.append(
            f"{server.name}: its replica {newest.name} had been promoted and is the server now; what the server "
            f"had before is in {former}, delete it when nothing is missed"
        )
    for each in promoted:
        former = _former(server)
        each.rename(former)
        notes.append(
            f"{server.name}: its replica {each.name} had been promoted too, beside what is the server now; what it "
            f"had is in {former}, delete it when nothing is missed"
        )
    return notes


def _former(server: Path) -> Path:
    """A name that is free for data which the server does not use any more."""
    numbered = (server.with_name(f"{server.name}.former-{count}") for count in itertools.count(1))
    return next(each for each in numbered if not each.exists())


def _timeline(folder: Path) -> int:
    """The newest timeline that the data know of: every promotion begins one."""
    histories = (folder / "data" / "pg_wal").glob("*.history")
    return max((int(each.stem, 16) for each in histories), default=1)


def required_settings(files: ServerFiles, settings: Mapping[str, str]) -> dict[str, str]:
    """The settings, none lower than the primary's were when it wrote the WAL that is to be replayed."""
    shown = subprocess.run(
        [files.binaries.program("pg_controldata"), "-D", str(files.data)],
        check=True,
        capture_output=True,
        text=True,
        env={"LC_ALL": "C", "PATH": os.environ.get("PATH", os.defpath)},
    ).stdout
    recorded = {
        name: int(value) for name, value in re.findall(r"^(max_\w+) setting:\s+(\d+)$", shown, re.MULTILINE)
    }
    recorded |= {"max_locks_per_transaction": recorded.pop("max_locks_per_xact", 0)}
    needed = {
        _RENAMED.get(name, name): recorded.get(name, 0) for name in (*_NOT_LOWER, "max_locks_per_transaction")
    }
    return {
        **settings,
        **{name: str(value) for name, value in needed.items() if value > int(settings.get(name, 0))},
    }
