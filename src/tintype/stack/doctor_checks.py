"""Checks of `tintype doctor`: each finding says what is the case and, when that is bad, what to do."""

import enum
import os
import platform
import resource
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from shardwright.errors import ShardwrightError
from shardwright.local import find_binaries
from tintype.stack.binaries import Engine, find_nats, find_valkey
from tintype.stack.data_directory import DataDirectory
from tintype.stack.engine_account import engine_account
from tintype.stack.errors import EngineMissing
from tintype.stack.machine import (
    Machine,
    ProcessCounts,
    choose_counts,
    needed_bytes,
    people_at_once,
    requests_per_s,
    this_machine,
)
from tintype.stack.plan import StackPlan
from tintype.stack.ports import find_obstacle
from tintype.stack.state import read_running
from tintype.stack.system_memory import available_bytes, total_bytes

_GIB = 1024**3
_EPOCH_S = 1_735_689_600  # 2025-01-01, where ids begin to count
_MIN_OPEN_FILES = 1024
_MIN_PYTHON = (3, 11)


class Verdict(enum.StrEnum):
    """Severity of a finding."""

    OK = "ok"
    WARNING = "warning"
    WRONG = "wrong"


class Finding(msgspec.Struct, frozen=True):
    """Result of one check."""

    subject: str
    verdict: Verdict
    detail: str
    fix: str = ""


def run_checks(plan: StackPlan) -> Iterator[Finding]:
    """Check everything that commonly prevents Tintype from starting or from running well."""
    home = DataDirectory(plan.home)
    yield _python()
    yield _system()
    yield from _engines(plan)
    yield from _ports(plan, home)
    yield _realtime(plan)
    yield _permissions(home)
    yield _disk(plan.home)
    yield _memory()
    yield _capacity(plan, this_machine())
    yield _shared_memory()
    yield _open_files()
    yield from _clock(home)


def _python() -> Finding:
    detail = f"{platform.python_version()} at {sys.executable}"
    if sys.version_info >= _MIN_PYTHON:
        return Finding("python", Verdict.OK, detail)
    return Finding("python", Verdict.WRONG, detail, "Install Python 3.11 or newer and run ./tintype with it.")


def _system() -> Finding:
    detail = f"{platform.system()} {platform.release()} on {platform.machine()}"
    if sys.platform == "linux":
        return Finding("system", Verdict.OK, detail)
    fix = "Expect to stop leftover servers by hand after a crash: they can only be identified on Linux."
    return Finding("system", Verdict.WARNING, detail, fix)


def _engines(plan: StackPlan) -> Iterator[Finding]:
    engines: dict[str, tuple[object, Callable[[], Engine]]] = {
        "PostgreSQL": (plan.postgres, _find_postgres),
        "Valkey": (plan.redis, find_valkey),
        "NATS": (plan.nats, find_nats),
    }
    for title, (existing, find) in engines.items():
        if existing:
            yield Finding(title, Verdict.OK, "an existing server is used")
            continue
        try:
            engine = find()
        except (EngineMissing, ShardwrightError, OSError) as error:
            yield Finding(title, Verdict.WRONG, str(error), "Run ./tintype up once, which installs it.")
        else:
            yield Finding(title, Verdict.OK, f"{engine.version} at {engine.path}")


def _find_postgres() -> Engine:
    found = find_binaries()
    return Engine(found.bin_dir / "postgres", found.version)


def _realtime(plan: StackPlan) -> Finding:
    """Whether devices may hold live connections, and why not."""
    if plan.realtime:
        servers = "your own NATS servers" if plan.nats else "the embedded NATS server"
        return Finding("live connections", Verdict.OK, f"on: MQTT over WebSocket at /mqtt, by {servers}")
    reason = "realtime is not true, and the NATS servers are your own" if plan.nats else "realtime is false"
    return Finding("live connections", Verdict.OK, f"off: {reason} (docs/operating.md, Real time)")


def _ports(plan: StackPlan, home: DataDirectory) -> Iterator[Finding]:
    if read_running(home) is not None:
        yield Finding("ports", Verdict.OK, "Tintype is running and holds its ports")
        return
    host = plan.http_host
    wanted = {"http_port": (host, plan.http_port), "metrics_port": (plan.metrics_host, plan.metrics_port)}
    if plan.realtime and not plan.nats:
        wanted |= {"mqtt_port": (host, plan.mqtt_port), "mqtt_ws_port": (host, plan.mqtt_ws_port)}
    for name, (listen_host, port) in wanted.items():
        if port == 0:
            continue  # nothing will listen
        obstacle = find_obstacle(listen_host, port)
        detail = f"{port} {obstacle or 'is free'}"
        if obstacle is None:
            yield Finding(name, Verdict.OK, detail)
            continue
        if name in plan.fixed_ports:
            yield Finding(
                name, Verdict.WRONG, detail, f"Stop that program, or change {name} in tintype.toml."
            )
        else:
            yield Finding(name, Verdict.WARNING, detail, f"The next free one will be used; or set {name}.")


def _permissions(home: DataDirectory) -> Finding:
    folder = _nearest_existing(home.root)
    if not os.access(folder, os.W_OK | os.X_OK):
        fix = f"Give it to this user (chown -R {os.geteuid()} {folder}), or choose another with --home."
        return Finding("permissions", Verdict.WRONG, f"{folder} is not writable", fix)
    account = engine_account()
    if account is not None and not account.can_traverse(folder):
        fix = "Choose a directory that every account may traverse: --home /var/lib/tintype/main"
        detail = f"{folder} is not accessible to {account.name}, who runs the servers for root"
        return Finding("permissions", Verdict.WRONG, detail, fix)
    for private in (home.secrets, home.run):
        if private.exists() and private.stat().st_mode & 0o077:
            return Finding(
                "permissions", Verdict.WRONG, f"{private} is open to others", f"chmod 700 {private}"
            )
    runner = f"root, servers as {account.name}" if account else "this user"
    return Finding("permissions", Verdict.OK, f"{home.root} is usable by {runner}")


def _disk(home: Path) -> Finding:
    free = shutil.disk_usage(_nearest_existing(home)).free
    detail = f"{free / _GIB:.1f} GiB free in {home}"
    if free < _GIB:
        return Finding("disk", Verdict.WRONG, detail, "Free at least 1 GiB: PostgreSQL stops on a full disk.")
    if free < 5 * _GIB:
        return Finding("disk", Verdict.WARNING, detail, "Photos need room: free some, or set media_store.")
    return Finding("disk", Verdict.OK, detail)


def _memory() -> Finding:
    available = available_bytes()
    detail = f"{available / _GIB:.1f} GiB available of {total_bytes() / _GIB:.1f}"
    if available < _GIB // 2:
        return Finding(
            "memory", Verdict.WARNING, detail, "Close programs or add memory: half a GiB is tight."
        )
    return Finding("memory", Verdict.OK, detail)


def _capacity(plan: StackPlan, machine: Machine) -> Finding:
    """What a machine of this size carries, and whether the chosen processes fit into it."""
    counts = ProcessCounts(plan.web_count, plan.worker_count)
    replicas = plan.embedded_replicas
    needed = needed_bytes(counts, replicas, has_servers=not plan.external)
    with_replicas = f" with {replicas} replica{'s' * (replicas > 1)}" if replicas else ""
    detail = (
        f"{machine.cores} cores and {machine.memory_bytes / _GIB:.1f} GiB: {counts.web} web and "
        f"{counts.workers} worker processes{with_replicas}, {needed / _GIB:.1f} GiB under load; "
        f"some {requests_per_s(machine)} requests a second, {people_at_once(machine):,} people at once"
    )
    if needed > machine.memory_bytes:
        suitable = choose_counts(machine, replicas)
        fix = (
            f"Fewer processes, or more memory: web_workers = {suitable.web} and worker_count = {suitable.workers} "
            "suit this machine."
            if counts != suitable
            else f"Add memory{', start fewer replicas' * bool(replicas)}, or name servers on other machines: less than "
            "this is for trying it out."
        )
        return Finding("capacity", Verdict.WARNING, detail, fix)
    return Finding("capacity", Verdict.OK, detail)


def _shared_memory() -> Finding:
    free = shutil.disk_usage("/dev/shm").free  # noqa: S108 - where PostgreSQL puts it
    detail = f"{free / 1024**2:.0f} MiB of shared memory"
    if free < 128 * 1024**2:
        return Finding("shm", Verdict.WARNING, detail, "In a container, start it with --shm-size=256m.")
    return Finding("shm", Verdict.OK, detail)


def _open_files() -> Finding:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    detail = f"{soft} open files allowed ({hard} at most)"
    if soft < _MIN_OPEN_FILES:
        return Finding("open files", Verdict.WARNING, detail, "Raise it: ulimit -n 4096")
    return Finding("open files", Verdict.OK, detail)


def _clock(home: DataDirectory) -> Iterator[Finding]:
    """Ids contain the time: a clock that is far off produces ids that stay wrong."""
    now = time.time()
    shown = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(now))
    if now < _EPOCH_S:
        yield Finding(
            "clock", Verdict.WRONG, f"it says {shown}", "Set the clock; ids cannot be made before 2025."
        )
        return
    newest = max((each.stat().st_mtime for each in home.logs.glob("*.log")), default=0.0)
    if newest > now + 60:
        detail = f"it says {shown}, but our own logs are {newest - now:.0f} s ahead of it"
        yield Finding("clock", Verdict.WRONG, detail, "The clock was set back: correct it, and run NTP.")
        return
    yield Finding("clock", Verdict.OK, shown)


def _nearest_existing(path: Path) -> Path:
    """The path itself, or its closest parent that exists."""
    return next(each for each in (path, *path.parents) if each.exists())
