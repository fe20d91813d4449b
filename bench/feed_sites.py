"""The contenders of `bench feed`: ours and a pull-only feed on the same servers, and Django on its own PostgreSQL."""

import json
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from subprocess import run

from bench.django_environment import django_environment
from bench.feed_dataset import Dataset, SeededDataset, seed_dataset
from bench.feed_invalidation import FeedInvalidator
from bench.feed_replay import Recorded, record
from bench.http_load import Before, Call
from bench.site_processes import (
    CHECKOUT,
    engines,
    environment_of,
    free_port,
    settings_for,
    started,
    wait_for,
)
from bench.social_sites import Site
from tintype.base.settings import Settings
from tintype.redis.client import PipelinedRedisClient
from tintype.redis.connect import connect_redis
from tintype.schema import apply_schema
from tintype.wiring import open_rooms

SHARDS = 16


@dataclass(frozen=True)
class Sites:
    """The running contenders, and what is needed to measure them."""

    ours: Site
    pull: Site
    django: Site
    recorded: list[Recorded]
    """What our feed sends to Redis and PostgreSQL, read by read."""
    invalidate_before_read: Before
    settings: Settings


@asynccontextmanager
async def open_sites(dataset: Dataset) -> AsyncGenerator[Sites]:
    """Start all contenders with the same dataset."""
    async with engines() as (found, engines_of), _django(dataset) as django:
        settings = settings_for(found, shard_count=SHARDS, posts_per_day=10_000)
        await apply_schema(settings)
        async with open_rooms(settings, process="bench") as rooms:
            seeded = await seed_dataset(rooms, dataset)
            recorded = await record(rooms, seeded)
        parts = {name: engines_of[name] for name in ("postgres", "valkey")}
        port, pull_port, environment = free_port(), free_port(), environment_of(settings)
        with (
            started(["-m", "tintype", "web", "--port", str(port)], environment) as web,
            started(["-m", "bench.peers.pull_feed", str(pull_port)], environment) as pull,
        ):
            await wait_for(port)
            await wait_for(pull_port)
            yield Sites(
                Site(port, parts | {"web": [web]}, seeded.tokens),
                Site(pull_port, parts | {"web": [pull]}, seeded.tokens),
                django,
                recorded,
                _invalidator(settings, seeded),
                settings,
            )


def _invalidator(settings: Settings, seeded: SeededDataset) -> Before:
    """Return a hook that invalidates the feed of the reader whose request comes next."""
    readers = dict(zip(seeded.tokens, seeded.readers, strict=True))
    invalidator = FeedInvalidator(PipelinedRedisClient(connect_redis(settings)), settings)

    async def invalidate(call: Call) -> None:
        await invalidator.invalidate(readers[call.token])

    return invalidate


@asynccontextmanager
async def _django(dataset: Dataset) -> AsyncGenerator[Site]:
    async with engines() as (found, engines_of):
        environment = django_environment(found.postgres[0])
        command = [
            sys.executable,
            "-m",
            "bench.peers.django_social.serve",
            "feed",
            json.dumps(asdict(dataset)),
        ]
        run(command, env=environment, cwd=CHECKOUT, check=True)  # noqa: ASYNC221 - nothing else runs
        port = free_port()
        with started(["-m", "bench.peers.django_social.serve", "serve", str(port)], environment) as web:
            await wait_for(port)
            parts = {"postgres": engines_of["postgres"], "web": [web]}
            yield Site(port, parts, [f"token{number}" for number in range(dataset.readers)])
