"""The contenders of `bench social`, each with its own servers and the same data: ours, Django, Django with Celery."""

import secrets
import sys
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from subprocess import run

from argon2 import PasswordHasher

from bench.backlog import CountLeft, celery_backlog, nothing_left, tintype_backlog, wait_until_done
from bench.django_environment import django_environment
from bench.site_processes import (
    CHECKOUT,
    Parts,
    cpu_s,
    engines,
    environment_of,
    free_port,
    settings_for,
    started,
    wait_for,
)
from tintype.base.ids import MediaId
from tintype.base.settings import Settings
from tintype.media import QUERIES as MEDIA
from tintype.schema import apply_schema
from tintype.wiring import Rooms, open_rooms

POSTS_EACH = 3
SHARDS = 16
OURS, PLAIN, FULL = "ours", "plain Django", "Django with Celery"
SERVE = "bench.peers.django_social.serve"
CELERY_THREADS = 4


@dataclass
class Site:
    """A running contender: its port, processes and session tokens."""

    port: int
    parts: Parts
    tokens: list[str] = field(default_factory=list[str])
    accounts: list[str] = field(default_factory=list[str])
    usernames: list[str] = field(default_factory=list[str])
    posts: list[str] = field(default_factory=list[str])
    media: dict[int, list[str]] = field(default_factory=dict[int, list[str]])
    """Photos yet to be posted, by the number of their owner."""
    metrics_port: int = 0
    """Where Tintype serves its metrics."""
    count_left: CountLeft = nothing_left

    def cpu_s(self) -> dict[str, float]:
        """CPU time that each process of the contender has used so far."""
        return {name: cpu_s(*processes) for name, processes in self.parts.items()}

    async def wait_until_done(self) -> None:
        """Wait until nothing is left of what follows from the requests so far."""
        await wait_until_done(self.count_left)


@asynccontextmanager
async def all_sites(people: int, waiting_each: int) -> AsyncGenerator[dict[str, Site]]:
    """Start ours and both peers, with the same data."""
    async with AsyncExitStack() as stack:
        sites = {
            OURS: await stack.enter_async_context(our_site(people, waiting_each)),
            PLAIN: await stack.enter_async_context(_peer(people, waiting_each, has_worker=False)),
            FULL: await stack.enter_async_context(_peer(people, waiting_each, has_worker=True)),
        }
        for site in sites.values():
            await site.wait_until_done()
        yield sites


@asynccontextmanager
async def our_site(people: int, waiting_each: int) -> AsyncGenerator[Site]:
    """Start Tintype with this many people, three posts each."""
    async with engines() as (found, parts):
        settings = settings_for(found, shard_count=SHARDS)
        await apply_schema(settings)
        async with running_site(settings, parts) as site:
            async with open_rooms(settings, process="bench") as rooms:
                await seed_people(rooms, site, people, waiting_each)
            yield site


@asynccontextmanager
async def running_site(settings: Settings, parts: Parts) -> AsyncGenerator[Site]:
    """Start a web and a worker process on servers that run."""
    port, metrics_port = free_port(), free_port()
    environment = environment_of(settings) | {"TINTYPE_METRICS_PORT": str(metrics_port)}
    with (
        started(["-m", "tintype", "web", "--port", str(port)], environment) as web,
        started(["-m", "tintype", "worker"], environment_of(settings)) as worker,
    ):
        await wait_for(port)
        async with tintype_backlog(settings) as count_left:
            yield Site(
                port,
                parts | {"web": [web], "worker": [worker]},
                metrics_port=metrics_port,
                count_left=count_left,
            )


@asynccontextmanager
async def _peer(people: int, waiting_each: int, *, has_worker: bool) -> AsyncGenerator[Site]:
    async with engines() as (found, parts):
        environment = django_environment(found.postgres[0], found.redis if has_worker else "")
        async with django_site(environment, parts, people, waiting_each) as site:
            yield site


@asynccontextmanager
async def django_site(
    environment: dict[str, str], engines_of: Parts, people: int, waiting_each: int
) -> AsyncGenerator[Site]:
    """Start the Django peer on servers that run, and Celery where it has a broker, with this many people."""
    broker = environment["PEER_REDIS"]
    _manage(environment, "seed", people)
    first_media = int(_manage(environment, "media", waiting_each))
    async with AsyncExitStack() as stack:
        port = free_port()
        web = stack.enter_context(started(["-m", SERVE, "serve", str(port)], environment))
        site = Site(port, {"postgres": engines_of["postgres"], "web": [web]})
        if broker:
            worker = stack.enter_context(started(["-m", SERVE, "work", str(CELERY_THREADS)], environment))
            site.parts |= {"worker": [worker], "valkey": engines_of["valkey"]}
            site.count_left = await stack.enter_async_context(celery_backlog(broker))
        for number in range(people):
            site.tokens.append(f"token{number}")
            site.accounts.append(str(number + 1))
            site.usernames.append(f"person{number}")
            start = first_media + number * waiting_each
            site.media[number] = [str(start + each) for each in range(waiting_each)]
        site.posts = [str(number + 1) for number in range(people * POSTS_EACH)]
        await wait_for(port)
        yield site


def _manage(environment: dict[str, str], command: str, count: int) -> str:
    """Run a command of the peer to its end; returns what it printed."""
    arguments = [sys.executable, "-m", SERVE, command, str(count)]
    return run(arguments, env=environment, cwd=CHECKOUT, check=True, capture_output=True, text=True).stdout


async def seed_people(rooms: Rooms, site: Site, people: int, waiting_each: int) -> None:
    """Sign people up, with three posts and photos yet to be posted each."""
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
        edit=None,
        large_width=0,
        camera=None,
        waveform=None,
        size_bytes=0,
    )
    return MediaId(media_id)
