"""Embedded Valkey: the speed, never the truth.

It starts empty on purpose. Everything in it can be built again from PostgreSQL, and an empty cache is always
right, while one restored from a snapshot would bring back what was deleted after it was taken.
"""

import re
from pathlib import Path

from redis.asyncio import Redis

from shardwright.local import server_account
from tintype.stack.binaries import find_valkey
from tintype.stack.home import Home, write_private
from tintype.stack.memory import total_bytes
from tintype.stack.program import Program, Stage

_MIB = 1024 * 1024
_SMALLEST, _LARGEST = 128 * _MIB, 4096 * _MIB
_SHARE_OF_MEMORY = 8
_TIMEOUT_S = 3
_CHATTER = (
    "oO0OoO0OoO0Oo",
    "Configuration loaded",
    "monotonic clock",
    "Running mode",
    "Static Module",
    "Server initialized",
    "Memory overcommit",  # about saving to disk, which is off
)
_STAMP = re.compile(r"^\d+:[A-Z] \d+ \w+ \d+ [\d:.]+ [.\-*#] ")


def valkey_program(home: Home, port: int, password: str) -> tuple[Program, str]:
    """Return the program and its URL."""
    account = server_account()
    folder = home.own(home.root / "redis", account)
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
        tidy=_tidy,
    )
    return program, url


def valkey_url(port: int, password: str) -> str:
    """How clients reach the embedded server."""
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
        "requirepass": password,
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


def _memory_limit() -> int:
    """An eighth of what there is: the database and the web processes live here too."""
    return min(max(total_bytes() // _SHARE_OF_MEMORY, _SMALLEST), _LARGEST)


def _tidy(line: str) -> str:
    return "" if any(each in line for each in _CHATTER) else _STAMP.sub("", line)
