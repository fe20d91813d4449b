"""The two contenders of `bench social`, each with its own PostgreSQL, the same data and one web process."""

import asyncio
import os
import secrets
import socket
import sys
import tempfile
import time
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import Popen, run
from urllib.parse import urlsplit

import psutil
from argon2 import PasswordHasher

from tintype.base.ids import MediaId
from tintype.base.log import set_up_log
from tintype.base.settings import Settings
from tintype.media import QUERIES as MEDIA
from tintype.schema import apply_schema
from tintype.stack import Connections, Stack
from tintype.wiring import Rooms, open_rooms

NO_REFUSALS = "all=1000000000/60"
"""A few accounts send all requests of a bench. Limits are counted as ever, and never reached."""
CHECKOUT = Path(__file__).resolve().parent.parent
POSTS_EACH = 3
SHARDS = 16
START_S = 60


@dataclass
class Site:
    """A running contender: its port, processes and session tokens."""

    port: int
    parts: dict[str, psutil.Process]
    tokens: list[str] = field(default_factory=list[str])
    accounts: list[str] = field(default_factory=list[str])
    usernames: list[str] = field(default_factory=list[str])
    posts: list[str] = field(default_factory=list[str])
    media: dict[int, list[str]] = field(default_factory=dict[int, list[str]])
    """Photos yet to be posted, by the number of their owner."""
    metrics_port: int = 0
    """Where Tintype serves its metrics."""

    def cpu_s(self) -> dict[str, float]:
        """CPU time that each process of the contender has used so far."""
        return {name: cpu_s_of(process) for name, process in self.parts.items()}


def cpu_s_of(process: psutil.Process) -> float:
    """CPU time of a process and its children, including children that have exited."""
    total = 0.0
    for each in (process, *process.children(recursive=True)):
        try:
            times = each.cpu_times()
        except psutil.NoSuchProcess:
            continue  # it ended since it was listed
        total += times.user + times.system + times.children_user + times.children_system
    return total


@asynccontextmanager
async def both_sites(people: int, waiting_each: int) -> AsyncGenerator[tuple[Site, Site]]:
    """Start ours and the peer, with the same data."""
    async with AsyncExitStack() as stack:
        ours = await stack.enter_async_context(_ours(people, waiting_each))
        peer = await stack.enter_async_context(_peer(people, waiting_each))
        yield ours, peer


@asynccontextmanager
async def _ours(people: int, waiting_each: int) -> AsyncGenerator[Site]:
    async with engines() as (found, engines_of):
        settings = Settings(
            home=found.home,
            postgres=found.postgres,
            redis=found.redis,
            nats=found.nats,
            shard_count=SHARDS,
            log_level="error",
            secret_key="of a bench",
        )
        set_up_log(settings, process="bench")
        await apply_schema(settings)
        port, metrics_port = free_port(), free_port()
        environment = environment_of(settings) | {"TINTYPE_METRICS_PORT": str(metrics_port)}
        with (
            started(["-m", "tintype", "web", "--port", str(port)], environment) as web,
            started(["-m", "tintype", "worker"], environment) as worker,
        ):
            site = Site(
                port,
                engines_of | {"web": psutil.Process(web.pid), "worker": psutil.Process(worker.pid)},
                metrics_port=metrics_port,
            )
            async with open_rooms(settings, process="bench") as rooms:
                await _seed(rooms, site, people, waiting_each)
            await wait_for(port)
            yield site


@asynccontextmanager
async def _peer(people: int, waiting_each: int) -> AsyncGenerator[Site]:
    async with engines() as (found, engines_of):
        parts = urlsplit(found.postgres[0])
        environment = os.environ | {
            "PEER_HOST": parts.hostname or "",
            "PEER_PORT": str(parts.port),
            "PEER_USER": parts.username or "",
            "PEER_PASSWORD": parts.password or "",
            "PEER_NAME": parts.path.lstrip("/"),
        }
        command = [sys.executable, "-m", "bench.peers.django_social.serve"]
        run([*command, "seed", str(people)], env=environment, cwd=CHECKOUT, check=True)  # noqa: ASYNC221 - nothing else runs
        first = run(  # noqa: ASYNC221 - likewise
            [*command, "media", str(waiting_each)],
            env=environment,
            cwd=CHECKOUT,
            check=True,
            capture_output=True,
            text=True,
        )
        port = free_port()
        with started(["-m", "bench.peers.django_social.serve", "serve", str(port)], environment) as web:
            parts = {"postgres": engines_of["postgres"], "web": psutil.Process(web.pid)}
            site = Site(port, parts)
            first_media = int(first.stdout)
            for number in range(people):
                site.tokens.append(f"token{number}")
                site.accounts.append(str(number + 1))
                site.usernames.append(f"person{number}")
                start = first_media + number * waiting_each
                site.media[number] = [str(start + each) for each in range(waiting_each)]
            site.posts = [str(number + 1) for number in range(people * POSTS_EACH)]
            await wait_for(port)
            yield site


async def _seed(rooms: Rooms, site: Site, people: int, waiting_each: int) -> None:
    rooms.accounts.use_hasher(PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))
    for number in range(people):
        made = await rooms.accounts.sign_up(f"person{number}", "a sentence for the bench")
        site.tokens.append(made.token)
        site.accounts.append(str(made.account.id))
        site.usernames.append(made.account.username)
        ids = [await add_picture(rooms, made.account.id) for _ in range(POSTS_EACH + waiting_each)]
        for media_id in ids[:POSTS_EACH]:
            post_id = await rooms.posts.publish(made.account.id, [media_id], caption="a post")
            site.posts.append(str(post_id))
        site.media[number] = [str(each) for each in ids[POSTS_EACH:]]


async def add_picture(rooms: Rooms, account_id: int) -> MediaId:
    """Create a photo that has not been posted yet."""
    shard = rooms.shards.owner(account_id)
    media_id = await shard.fetch_value(MEDIA.draw_media_id)
    await shard.execute(
        MEDIA.add_media,
        id=media_id,
        account_id=account_id,
        folder=secrets.token_hex(8),
        type="image",
        state="ready",
        kind="post",
        width=1080,
        height=1080,
        placeholder=None,
        duration_ms=None,
        progress=100,
        keeps_location=False,
        removed=[],
        size_bytes=0,
    )
    return MediaId(media_id)


@asynccontextmanager
async def engines() -> AsyncGenerator[tuple[Connections, dict[str, psutil.Process]]]:
    """Start separate servers; yields their addresses, and their processes by name."""
    folder = Path(tempfile.mkdtemp(prefix="tintype-bench-"))
    folder.chmod(0o711)  # noqa: ASYNC240 - one call; the servers' account passes through
    before = {each.pid for each in psutil.Process().children(recursive=True)}
    async with Stack(folder / "home", postgres_servers=1, engines_only=True, durable=False) as stack:
        made = [each for each in psutil.Process().children(recursive=True) if each.pid not in before]
        tops = [each for each in made if each.ppid() not in {one.pid for one in made}]
        yield stack.connections, {_part(each): each for each in tops}


def _part(process: psutil.Process) -> str:
    name = process.name()
    return next((part for part in ("postgres", "valkey", "nats") if part in name), name)


class started:  # noqa: N801 - reads as a verb where it is used
    """Runs a process for the length of a block."""

    def __init__(self, arguments: list[str], environment: dict[str, str]) -> None:
        self._command, self._environment = [sys.executable, *arguments], environment

    def __enter__(self) -> "Popen[bytes]":
        self._process = Popen(self._command, env=self._environment, cwd=CHECKOUT)
        return self._process

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait(10)


def environment_of(settings: Settings) -> dict[str, str]:
    """Environment that makes a Tintype process use these settings."""
    return os.environ | {
        "TINTYPE_HOME": str(settings.home),
        "TINTYPE_POSTGRES": " ".join(settings.postgres),
        "TINTYPE_REDIS": settings.redis,
        "TINTYPE_NATS": " ".join(settings.nats),
        "TINTYPE_SHARD_COUNT": str(settings.shard_count),
        "TINTYPE_SECRET_KEY": settings.secret_key,
        "TINTYPE_LOG_LEVEL": "error",
        "TINTYPE_RATE_LIMITS": NO_REFUSALS,
    }


def free_port() -> int:
    """Return a free port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


async def wait_for(port: int) -> None:
    """Wait until a server listens on this port."""
    deadline = time.monotonic() + START_S
    while True:
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            if time.monotonic() > deadline:
                raise
            await asyncio.sleep(0.1)
        else:
            writer.close()
            return
