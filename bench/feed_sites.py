"""The sites of `bench feed`: ours and a pull-only one on the same engines, and Django on a PostgreSQL of its own."""

import json
import os
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from subprocess import run
from urllib.parse import urlsplit

import psutil

from bench.feed_news import News
from bench.feed_raw import Recorded, record
from bench.feed_town import Plan, Settled, settle_town
from bench.http_load import Before, Call
from bench.social_sites import CHECKOUT, Site, engines, environment_of, free_port, started, wait_for
from tintype.base.log import set_up_log
from tintype.base.memory import connect_redis
from tintype.base.settings import Settings
from tintype.base.wire import PipelinedWire
from tintype.schema import apply_schema
from tintype.wiring import open_rooms

SHARDS = 16


@dataclass(frozen=True)
class Sites:
    """Everything that is measured."""

    ours: Site
    pull: Site
    django: Site
    recorded: list[Recorded]
    """What ours asks of its engines, read by read."""
    bring_news: Before
    settings: Settings


@asynccontextmanager
async def open_sites(plan: Plan) -> AsyncGenerator[Sites]:
    """All of them, up and seeded alike."""
    async with engines() as (found, engines_of), _django(plan) as django:
        settings = Settings(
            home=found.home,
            postgres=found.postgres,
            redis=found.redis,
            nats=found.nats,
            shard_count=SHARDS,
            posts_per_day=10_000,
            log_level="error",
            secret_key="of a bench",
        )
        set_up_log(settings, process="bench")
        await apply_schema(settings)
        async with open_rooms(settings, process="bench") as rooms:
            settled = await settle_town(rooms, plan)
            recorded = await record(rooms, settled)
        parts = {name: engines_of[name] for name in ("postgres", "valkey")}
        port, pull_port, environment = free_port(), free_port(), environment_of(settings)
        with (
            started(["-m", "tintype", "web", "--port", str(port)], environment) as web,
            started(["-m", "bench.peers.pull_feed", str(pull_port)], environment) as pull,
        ):
            await wait_for(port)
            await wait_for(pull_port)
            yield Sites(
                Site(port, parts | {"web": psutil.Process(web.pid)}, settled.tokens),
                Site(pull_port, parts | {"web": psutil.Process(pull.pid)}, settled.tokens),
                django,
                recorded,
                _messenger(settings, settled),
                settings,
            )


def _messenger(settings: Settings, settled: Settled) -> Before:
    """Brings news to the reader whose call comes next."""
    readers = dict(zip(settled.tokens, settled.readers, strict=True))
    news = News(PipelinedWire(connect_redis(settings)), settings)

    async def bring(call: Call) -> None:
        await news.bring(readers[call.token])

    return bring


@asynccontextmanager
async def _django(plan: Plan) -> AsyncGenerator[Site]:
    async with engines() as (found, engines_of):
        address = urlsplit(found.postgres[0])
        environment = os.environ | {
            "PEER_HOST": address.hostname or "",
            "PEER_PORT": str(address.port),
            "PEER_USER": address.username or "",
            "PEER_PASSWORD": address.password or "",
            "PEER_NAME": address.path.lstrip("/"),
        }
        command = [sys.executable, "-m", "bench.peers.django_social.serve", "feed", json.dumps(asdict(plan))]
        run(command, env=environment, cwd=CHECKOUT, check=True)  # noqa: ASYNC221 - nothing else runs
        port = free_port()
        with started(["-m", "bench.peers.django_social.serve", "serve", str(port)], environment) as web:
            await wait_for(port)
            parts = {"postgres": engines_of["postgres"], "web": psutil.Process(web.pid)}
            yield Site(port, parts, [f"token{number}" for number in range(plan.readers)])
