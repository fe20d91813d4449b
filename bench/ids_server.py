"""The server of `bench ids`: sixteen shards, each with a table for every way to generate ids."""

import asyncio
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Final, Self, cast

import asyncpg

from shardwright.ids import Layout, install_functions, schema_name, shard_sql
from shardwright.local import LocalServer

SHARDS: Final = 16
SECONDS: Final = 1
DRAWS: Final = 1_000
REPEAT_DRAWS: Final = 1_000_000

CONTENDERS: Final = {
    "ours": "{schema}.next_id()",
    "published": "{schema}.published()",
    "bigserial": "nextval('{schema}.serial')",
    "uuidv7": "uuidv7()",
}

SHARD = """
CREATE SEQUENCE {schema}.serial;
CREATE SEQUENCE {schema}.published_ids;
CREATE FUNCTION {schema}.published(OUT result bigint) LANGUAGE plpgsql AS $$
DECLARE
    our_epoch bigint := 1735689600000;
    seq_id bigint;
    now_millis bigint;
    shard_id int := {number};
BEGIN
    SELECT nextval('{schema}.published_ids') % 1024 INTO seq_id;
    SELECT FLOOR(EXTRACT(EPOCH FROM clock_timestamp()) * 1000) INTO now_millis;
    result := (now_millis - our_epoch) << 23;
    result := result | (shard_id << 10);
    result := result | (seq_id);
END $$;
"""


class IdServer:
    """A local server, deleted at the end of the benchmark."""

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="shardwright-bench-"))
        self._folder.chmod(0o711)  # the account that runs the server passes through
        self._server = LocalServer(self._folder / "server", durable=False, settings={"autovacuum": "off"})

    def __enter__(self) -> Self:
        self._server.start()
        asyncio.run(self._install())
        for number in range(SHARDS):
            self._add_shard(number)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None
    ) -> None:
        self._server.stop(mode="immediate")
        shutil.rmtree(self._folder)

    def draw(self, kind: str, clients: int) -> float:
        """Return how many ids per second the clients draw from one shard."""
        call = CONTENDERS[kind].format(schema=schema_name(1))
        return DRAWS * self._pgbench([f"SELECT count({call}) FROM generate_series(1, {DRAWS})"], clients)

    def insert(self, kind: str, clients: int, *, spread: bool) -> float:
        """Return how many rows per second the clients store, each in a transaction of its own."""
        tables = [f"{schema_name(number)}.by_{kind}" for number in (range(SHARDS) if spread else [1])]
        self._sql(f"TRUNCATE {', '.join(tables)}; CHECKPOINT")
        return self._pgbench(
            [f"INSERT INTO {table} (body) VALUES ('a line of text')" for table in tables], clients
        )

    def count_repeats(self, kind: str, clients: int) -> float:
        """Return how many of a million ids, drawn by all clients at the same time, were repeated."""
        call = CONTENDERS[kind].format(schema=schema_name(2))
        self._sql("DROP TABLE IF EXISTS drawn; CREATE UNLOGGED TABLE drawn (id bigint)")
        draw = f"INSERT INTO drawn SELECT {call} FROM generate_series(1, {DRAWS})"
        self._pgbench([draw], clients, f"--transactions={REPEAT_DRAWS // DRAWS // clients}")
        repeats, total = self._sql("SELECT count(*) - count(DISTINCT id), count(*) FROM drawn").split("|")
        return int(repeats) / int(total) * 1_000_000

    async def _install(self) -> None:
        conn = cast("asyncpg.Connection", await asyncpg.connect(self._server.dsn()))
        await install_functions(conn, Layout())
        await conn.close()

    def _add_shard(self, number: int) -> None:
        schema = schema_name(number)
        tables = [
            f"CREATE TABLE {schema}.by_{kind} (id {'uuid' if kind == 'uuidv7' else 'bigint'}"
            f" PRIMARY KEY DEFAULT {call.format(schema=schema)}, body text);"
            for kind, call in CONTENDERS.items()
        ]
        self._sql(
            f"CREATE SCHEMA {schema};"
            + shard_sql(number, Layout())
            + SHARD.format(schema=schema, number=number)
            + "".join(tables)
        )

    def _sql(self, sql: str) -> str:
        psql = self._server.files.binaries.program("psql")
        options = ["--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--set=ON_ERROR_STOP=1"]
        done = subprocess.run(
            [psql, *options, self._server.dsn()], input=sql, check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    def _pgbench(self, scripts: list[str], clients: int, length: str = f"--time={SECONDS}") -> float:
        """Return the transactions per second of clients that run the scripts at random."""
        files: list[str] = []
        for number, script in enumerate(scripts):
            path = self._folder / f"{number}.sql"
            path.write_text(f"{script};\n")
            files.append(f"--file={path}")
        pgbench = self._server.files.binaries.program("pgbench")
        load = [
            f"--client={clients}",
            f"--jobs={min(clients, 2)}",
            "--protocol=prepared",
            "--no-vacuum",
            length,
        ]
        done = subprocess.run(
            [pgbench, *load, *files, self._server.dsn()], check=True, capture_output=True, text=True
        )
        found = re.search(r"^tps = ([0-9.]+)", done.stdout, re.MULTILINE)
        if found is None:
            raise RuntimeError(f"pgbench printed no rate: {done.stdout}")
        return float(found.group(1))
