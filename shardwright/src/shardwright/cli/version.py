"""Versions of shardwright and its dependencies."""

import platform
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed_version

from shardwright.errors import SetupInvalid
from shardwright.local import find_binaries


def versions() -> dict[str, str]:
    """Return the versions of the library, Python, the database drivers and the local PostgreSQL."""
    found = {"shardwright": _installed("shardwright"), "python": platform.python_version()}
    found |= {name: _installed(name) for name in ("asyncpg", "asyncmy")}
    try:
        found["local postgresql"] = find_binaries().version
    except SetupInvalid:
        found["local postgresql"] = "none"
    return found


def _installed(name: str) -> str:
    try:
        return installed_version(name)
    except PackageNotFoundError:
        return "none"
