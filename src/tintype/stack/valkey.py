"""Embedded Valkey (Redis protocol): a cache, never the only copy of anything.

It starts empty on purpose. Everything in it can be rebuilt from PostgreSQL, and an empty cache is always
correct, while one restored from a snapshot would bring back what was deleted after the snapshot.
"""

import hashlib
import re
from pathlib import Path

from redis.asyncio import Redis

from tintype.stack.binaries import find_valkey
from tintype.stack.data_directory import DataDirectory, write_private
from tintype.stack.engine_account import engine_account
from tintype.stack.program import Program, Stage
from tintype.stack.system_memory import total_bytes

_MIB = 1024 * 1024
_MIN_BYTES, _MAX_BYTES = 128 * _MIB, 4096 * _MIB
_SHARE_OF_MEMORY = 8
_TIMEOUT_S = 3
_STARTUP_MESSAGES = (
    "oO0OoO0OoO0Oo",
    "Configuration loaded",
    "monotonic clock",
    "ChildProcess mode",
    "Static Module",
    "Server initialized",
    "Memory overcommit",  # about saving to disk, which is off
)
_STAMP = re.compile(r"^\d+:[A-Z] \d+ \w+ \d+ [\d:.]+ [.\-*#] ")


def valkey_program(home: DataDirectory, port: int, password: str) -> tuple[Program, str]:
    """Return the program and its URL."""
    account = engine_account()
    folder = home.create_private(home.root / "redis", account)
    configuration = folder / "valkey.conf"
    write_private(configuration, _configuration(folder, port, password), account)
    url = valkey_url(port, password)
    program = Program(
        name="redis",
        command=(str(find_valkey().path), str(configuration)),
        stage=Stage.REDIS,
        env={"LC_ALL": "C"},
        cwd=folder,
        account=account,
        ready=lambda: check_redis(url),
        grace_s=5.0,
        port=port,
        clean_line=_clean_line,
    )
    return program, url


def valkey_url(port: int, password: str) -> str:
    """The URL of the embedded server, with its password."""
    return f"redis://:{password}@127.0.0.1:{port}/0"


async def check_redis(url: str) -> None:
    """Raise unless the server answers."""
    client = Redis.from_url(url, socket_connect_timeout=_TIMEOUT_S, socket_timeout=_TIMEOUT_S)
    try:
        await client.ping()
    finally:
        await client.aclose()


def _configuration(folder: Path, port: int, password: str) -> str:
    settings = {
        "bind": "127.0.0.1",
        "port": str(port),
        "user": _acl(password),
        "dir": f'"{folder}"',
        "daemonize": "no",
        "save": '""',
        "appendonly": "no",
        "maxmemory": str(_memory_limit()),
        "maxmemory-policy": "allkeys-lru",
        "tcp-keepalive": "60",
        "loglevel": "notice",
        "always-show-logo": "no",
        "set-proc-title": "no",
    }
    return "".join(f"{name} {value}\n" for name, value in settings.items())


def _acl(password: str) -> str:
    """The one user there is: every key and channel, no administration.

    Whoever learns the password may read and empty the cache, but not reconfigure the server or have it write files.
    """
    digest = hashlib.sha256(password.encode()).hexdigest()
    return f"default on sanitize-payload #{digest} ~* &* +@all -@admin -@dangerous +info +flushdb +keys"


def _memory_limit() -> int:
    """An eighth of the memory: PostgreSQL and the web processes need the rest."""
    return min(max(total_bytes() // _SHARE_OF_MEMORY, _MIN_BYTES), _MAX_BYTES)


def _clean_line(line: str) -> str:
    return "" if any(each in line for each in _STARTUP_MESSAGES) else _STAMP.sub("", line)
