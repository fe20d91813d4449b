"""A steady mixed load on shards that are being moved, and what must be true of the rows afterwards."""

import asyncio
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import asyncpg
from move_test_owners import owners_of

from shardwright.errors import ServerUnavailable, ShardwrightError
from shardwright.moves import MoveOptions
from shardwright.moves.links import drop_slots, unsubscribe
from shardwright.routing import DeadlineExceeded, OutcomeUnknown, PoolOptions, Queries, Shard, Shards
from shardwright.topology import Directory, fetch_rows, fetch_value, guard_tables, open_connection

QUICK = MoveOptions(poll_s=0.05, busy_timeout_s=30.0)
_LOST = (
    OSError,
    asyncpg.PostgresConnectionError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,  # asyncpg's word for a connection that was lost while its reply was read
)
SHARDS = (1, 3)
"""Those that move; both begin on server b."""

QUERIES = Queries.parse("""
-- name: add_post
INSERT INTO posts (author_id, caption) VALUES (:author_id, :caption) RETURNING id;
-- name: add_comment
INSERT INTO comments (post_id, body) VALUES (:post_id, :body) RETURNING id, number;
-- name: like_post
UPDATE posts SET likes = likes + 1 WHERE id = :id RETURNING likes;
-- name: drop_comment
DELETE FROM comments WHERE id = :id RETURNING id;
-- name: add_visit
INSERT INTO visits (day, id) VALUES (:day, next_id()) RETURNING id;
-- name: lease
SELECT next_ids(20) AS id;
""")
_TABLES = """
CREATE TABLE {0}.posts (id bigint PRIMARY KEY DEFAULT {0}.next_id(), author_id bigint NOT NULL, caption text NOT NULL,
  likes integer NOT NULL DEFAULT 0);
CREATE INDEX posts_by_author ON {0}.posts (author_id);
CREATE TABLE {0}.comments (id bigint PRIMARY KEY DEFAULT {0}.next_id(),
  number bigint GENERATED ALWAYS AS IDENTITY UNIQUE, post_id bigint NOT NULL REFERENCES {0}.posts ON DELETE CASCADE,
  body text);
CREATE TABLE {0}.visits (day integer NOT NULL, id bigint NOT NULL, PRIMARY KEY (day, id)) PARTITION BY RANGE (day);
CREATE INDEX visits_by_id ON {0}.visits (id);
CREATE TABLE {0}.visits_before PARTITION OF {0}.visits FOR VALUES FROM (-9) TO (1);
CREATE TABLE {0}.visits__1 PARTITION OF {0}.visits FOR VALUES FROM (1) TO (2);
CREATE TYPE {0}.mood AS ENUM ('glad', 'sad');
CREATE TABLE {0}.counts (author_id bigint PRIMARY KEY, posts bigint NOT NULL CHECK (posts > 0),
  twice bigint GENERATED ALWAYS AS (posts * 2) STORED, mood {0}.mood NOT NULL DEFAULT 'glad');
CREATE FUNCTION {0}.count_posts() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO {0}.counts (author_id, posts) VALUES (NEW.author_id, 1)
  ON CONFLICT (author_id) DO UPDATE SET posts = counts.posts + 1;
  RETURN NULL;
END $$;
CREATE TRIGGER count_posts AFTER INSERT ON {0}.posts FOR EACH ROW EXECUTE FUNCTION {0}.count_posts();
CREATE VIEW {0}.busy AS SELECT author_id FROM {0}.counts WHERE posts > 1;
CREATE TABLE {0}.schema_version (number integer PRIMARY KEY, name text NOT NULL, checksum text NOT NULL,
  started_at timestamptz NOT NULL DEFAULT clock_timestamp(), applied_at timestamptz);
INSERT INTO {0}.schema_version VALUES (1, 'posts', 'x', now(), now());
INSERT INTO {0}.posts (author_id, caption) SELECT n, '{0} ' || n FROM generate_series(1, 300) AS n;
INSERT INTO {0}.comments (post_id, body) SELECT id, 'old' FROM {0}.posts;
"""


async def make_tables(conn: asyncpg.Connection, number: int) -> None:
    """The tables of a shard: a foreign key, an identity column, partitions, indexes and a version."""
    await conn.execute(_TABLES.format(f"s{number:04d}"))
    await guard_tables(conn, number)


@dataclass
class Load:
    """Clients that write through a router, and others that write to both servers directly, whatever the map says."""

    dsns: dict[str, str]
    directory_dsn: str = ""
    """That of server a, where it is left out."""
    pause_s: float = 0.0
    """What each client does nothing for between two writes: faults need the processors as well."""
    captions: dict[str, int] = field(default_factory=dict[str, int])
    """Acknowledged posts."""
    likes: Counter[int] = field(default_factory=Counter[int])
    unknown_likes: Counter[int] = field(default_factory=Counter[int])
    comments: set[int] = field(default_factory=set[int])
    deleted: set[int] = field(default_factory=set[int])
    doubtful: set[int] = field(default_factory=set[int])
    """Comments whose deletion was not acknowledged."""
    visits: set[tuple[int, int]] = field(default_factory=set[tuple[int, int]])
    ids: list[int] = field(default_factory=list[int])
    days: int = 1
    writes: int = 0
    errors: list[str] = field(default_factory=list[str])
    _tasks: list[asyncio.Task[None]] = field(default_factory=list[asyncio.Task[None]])
    is_over: bool = False

    async def start(self) -> None:
        self.directory_dsn = self.directory_dsn or self.dsns["a"]
        self._shards = await Shards.open(
            self.directory_dsn,
            queries=[QUERIES],
            options=PoolOptions(not_owner_wait_s=60.0, deadline_s=90.0, statement_timeout_s=60.0, poll_s=1.0),
        )
        works = [self._client(number, client) for number in SHARDS for client in range(2)]
        works += [self._rogue(server) for server in self.dsns]
        self._tasks = [asyncio.create_task(work) for work in works]

    async def stop(self) -> None:
        """Let every client finish what it is doing."""
        self.is_over = True
        await asyncio.gather(*self._tasks)
        await self._shards.close()

    async def abandon(self) -> None:
        """Stop at once, whatever the clients are doing: the test has failed."""
        self.is_over = True
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._shards.close()

    async def wait_for_writes(self, more: int = 60) -> None:
        """Let the clients write so many times more."""
        wanted = self.writes + more
        while self.writes < wanted:
            await asyncio.sleep(0.01)
            for task in self._tasks:
                if task.done():
                    task.result()

    async def add_day(self) -> None:
        """Create the next day's partition at the owner of each shard, as an application does, if each has one."""
        day = self.days + 1
        owners = {number: await owners_of(self.dsns, number) for number in SHARDS}
        if not all(owners.values()):
            return
        for number, (server,) in owners.items():
            conn = await open_connection(self.dsns[server], server)
            await conn.execute(
                f"CREATE TABLE IF NOT EXISTS s{number:04d}.visits__{day} PARTITION OF s{number:04d}.visits "
                f"FOR VALUES FROM ({day}) TO ({day + 1})"
            )
            await conn.close()
        self.days = day

    async def _client(self, number: int, client: int) -> None:
        shard, mine = self._shards.shard(number), list[int]()
        dice, turn = random.Random(client), 0  # noqa: S311 - chance, not secrecy
        while not self.is_over:
            turn += 1
            try:
                await self._write(shard, dice, mine, f"{number} {client} {turn}")
                self.writes += 1
                await asyncio.sleep(self.pause_s)
            except (OutcomeUnknown, ServerUnavailable, DeadlineExceeded, *_LOST):
                await asyncio.sleep(0.01)  # it may have happened, or not

    async def _write(self, shard: Shard, dice: random.Random, mine: list[int], text: str) -> None:
        what = dice.randrange(6)
        if what == 0 or not mine:
            found = await shard.fetch_value(QUERIES.add_post, author_id=1, caption=text)
            self.captions[text] = found
            self.ids.append(found)
            mine.append(found)
        elif what == 1:
            post = dice.choice(mine)
            self.unknown_likes[post] += 1
            await shard.fetch_value(QUERIES.like_post, id=post)
            self.unknown_likes[post] -= 1
            self.likes[post] += 1
        elif what in {2, 3}:
            (row,) = await shard.fetch(QUERIES.add_comment, post_id=dice.choice(mine), body=text)
            self.comments.add(row["id"])
            self.ids.append(row["id"])
        elif what == 4 and (own := sorted(self.comments & set(mine) or self.comments)):
            one = dice.choice(own)
            if shard.number == (one >> 10) & 8191 and one not in self.doubtful | self.deleted:
                self.doubtful.add(one)
                await shard.fetch_value(QUERIES.drop_comment, id=one)
                self.doubtful.discard(one)
                self.deleted.add(one)
        else:
            self.ids += [row["id"] for row in await shard.fetch(QUERIES.lease)]
            day = self.days
            found = await shard.fetch_value(QUERIES.add_visit, day=day)
            self.visits.add((day, found))
            self.ids.append(found)

    async def _rogue(self, server: str) -> None:
        """Write to this server whether it is the owner or not; what it accepts must be kept."""
        turn = 0
        while not self.is_over:
            try:
                conn = await open_connection(self.dsns[server], server)
            except (ShardwrightError, asyncpg.PostgresError, OSError):
                await asyncio.sleep(0.05)
                continue
            try:
                while not self.is_over:
                    for number in SHARDS:
                        turn += 1
                        await self._rogue_write(conn, number, f"rogue {server} {number} {turn}")
                    await asyncio.sleep(0.005 + self.pause_s)
            except (asyncpg.PostgresError, *_LOST):
                await asyncio.sleep(0.02)  # the server is gone, or coming back
            finally:
                conn.terminate()

    async def _rogue_write(self, conn: asyncpg.Connection, number: int, text: str) -> None:
        try:
            found = await fetch_value(
                conn,
                f"INSERT INTO s{number:04d}.posts (author_id, caption) VALUES (2, $1) RETURNING id",
                text,
            )
        except asyncpg.PostgresError as error:
            if getattr(error, "sqlstate", None) in {"SW001", "42P01", "3F000", "40P01"}:
                return
            raise
        self.captions[text] = found
        self.ids.append(found)

    async def check(self) -> None:
        """No acknowledged write is lost or doubled, and no id was given out twice."""
        directory = await Directory.open(self.directory_dsn)
        owners = (await directory.load()).owners
        await directory.close()
        posts: dict[int, asyncpg.Record] = {}
        comments, visits, counted = set[int](), set[tuple[int, int]](), 0
        for number in SHARDS:
            conn = await open_connection(self.dsns[owners[number]], "owner")
            for row in await fetch_rows(conn, f"SELECT id, caption, likes FROM s{number:04d}.posts"):
                posts[row["id"]] = row
            comments |= {
                row["id"] for row in await fetch_rows(conn, f"SELECT id FROM s{number:04d}.comments")
            }
            visits |= {
                (row[0], row[1])
                for row in await fetch_rows(conn, f"SELECT day, id FROM s{number:04d}.visits")
            }
            counted += await fetch_value(conn, f"SELECT sum(posts)::bigint FROM s{number:04d}.counts")
            await conn.close()
        found = Counter(row["caption"] for row in posts.values())
        assert [text for text in self.captions if found[text] != 1] == []
        assert [text for text, count in found.items() if count > 1] == []
        for post, likes in self.likes.items():
            assert likes <= posts[post]["likes"] <= likes + self.unknown_likes[post]
        assert self.comments - self.deleted - self.doubtful <= comments
        assert not self.deleted & comments
        assert self.visits <= visits
        assert counted == len(posts)  # once for each, at the owner of the time
        assert [each for each, count in Counter(self.ids).items() if count > 1] == []


async def read_copies(
    dsns: dict[str, str], numbers: Sequence[int] = SHARDS
) -> dict[str, dict[str, list[str]]]:
    """The rows of every table of the moved shards, by server: to compare copies."""
    copies: dict[str, dict[str, list[str]]] = {}
    for server, dsn in dsns.items():
        conn = await open_connection(dsn, server)
        copies[server] = {}
        for number in numbers:
            names = await fetch_rows(
                conn,
                "SELECT c.oid::regclass::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
                "WHERE n.nspname = $1 AND c.relkind = 'r'",
                f"s{number:04d}",
            )
            for (name,) in names:
                rows = await fetch_rows(conn, f"SELECT t::text AS row FROM {name} AS t")
                copies[server][name] = sorted(row["row"] for row in rows)
        await conn.close()
    return copies


async def remove_links(dsns: dict[str, str]) -> None:
    """What a failed test left: a database with slots and subscriptions cannot be dropped."""
    conns = [await open_connection(dsn, name) for name, dsn in dsns.items()]
    for conn in conns:
        for (name,) in await fetch_rows(
            conn,
            "SELECT subname FROM pg_subscription JOIN pg_database d ON d.oid = subdbid "
            "WHERE datname = current_database()",
        ):
            await unsubscribe(conn, name)
    for conn in conns:
        await drop_slots(conn, "")
        await conn.close()
