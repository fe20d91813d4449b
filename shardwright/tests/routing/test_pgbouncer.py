"""The same router, unchanged, behind PgBouncer in transaction mode."""

import asyncio
import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import asyncpg
import pytest
from routing_test_cluster import QUERIES, Cluster, OpenShards

from shardwright.local import server_account
from shardwright.routing import Shards
from shardwright.topology import Directory, fetch_value

# Two server connections each, shared by all clients: names of prepared statements and session state would
# meet those of others at once.
CONFIG = """\
[databases]
{databases}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
auth_type = trust
auth_file = {directory}/users.txt
pool_mode = transaction
default_pool_size = 2
max_client_conn = 200
unix_socket_dir =
logfile = {directory}/pgbouncer.log
pidfile = {directory}/pgbouncer.pid
{account}
"""


def find_pgbouncer() -> str:
    """The program, installed from Debian where that is possible."""
    where = f"{os.environ['PATH']}:/usr/sbin"
    if shutil.which("pgbouncer", path=where) is None and os.geteuid() == 0 and shutil.which("apt-get"):
        subprocess.run(["apt-get", "install", "-y", "-q", "pgbouncer"], check=False, capture_output=True)  # noqa: S607 - the program of whoever runs the tests
    found = shutil.which("pgbouncer", path=where)
    if found is None:
        pytest.skip("pgbouncer is not installed, and only root can install it from Debian")
    return found


@pytest.fixture(scope="module")
def pooled_dsns(cluster: Cluster, run_directory: Path) -> Iterator[dict[str, str]]:
    """The cluster's servers, reached through PgBouncer."""
    program = find_pgbouncer()
    directory = Path(tempfile.mkdtemp(prefix="pgbouncer-", dir=run_directory))
    directory.chmod(0o777)  # PgBouncer, too, leaves root for another account
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    parts = {name: urlsplit(dsn) for name, dsn in cluster.dsns.items()}
    databases = "\n".join(
        f"{name} = host={part.hostname} port={part.port} dbname={part.path[1:]} "
        f"user={part.username} password={part.password}"
        for name, part in parts.items()
    )
    account = server_account()
    config = CONFIG.format(
        databases=databases,
        port=port,
        directory=directory,
        account=f"user = {account.name}" if account else "",
    )
    (directory / "users.txt").write_text('"app" "app"\n')
    (directory / "pgbouncer.ini").write_text(config)
    with subprocess.Popen([program, str(directory / "pgbouncer.ini")], stderr=subprocess.DEVNULL) as process:
        try:
            wait_for(port)
            yield {name: f"postgresql://app@127.0.0.1:{port}/{name}" for name in parts}
        finally:
            process.terminate()


def wait_for(port: int) -> None:
    for _ in range(200):
        with socket.socket() as probe:
            probe.settimeout(0.05)
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise TimeoutError("pgbouncer does not answer")


@pytest.fixture
async def pooled(cluster: Cluster, pooled_dsns: dict[str, str], open_shards: OpenShards) -> Shards:
    return await open_shards(cluster, dsns=pooled_dsns)


async def test_the_pooler_is_detected(pooled: Shards, shards: Shards) -> None:
    for each in (pooled, shards):
        await each.shard(0).fetch_value(QUERIES.whoami)
    kinds = [
        {pooled.is_behind_pooler for _, _, pool in each.pools() for pooled in pool.connections}
        for each in (pooled, shards)
    ]

    assert kinds == [{True}, {False}]


async def test_reads_writes_gathers_and_transactions_work(pooled: Shards, caption: str) -> None:
    ids = [await pooled.shard(n).fetch_value(QUERIES.add, author_id=1, caption=caption) for n in range(16)]
    for new_id in ids:
        assert await pooled.owner(new_id).fetch_one(QUERIES.find_hot, id=new_id) is not None
        async with pooled.owner(new_id).begin() as transaction:
            assert await transaction.execute(QUERIES.change, id=new_id, caption=f"{caption}!") == 1
            timeout = await fetch_value(transaction.connection, "SHOW statement_timeout")
            assert timeout == "10s"

    gathered = await pooled.gather(QUERIES.get, ids)
    assert {row["caption"] for row in gathered.complete()} == {f"{caption}!"}
    assert len(await pooled.everywhere().fetch(QUERIES.whoami)) == 16


@pytest.mark.slow
async def test_many_clients_on_few_server_connections_get_their_own_answers(
    cluster: Cluster, pooled_dsns: dict[str, str], open_shards: OpenShards, caption: str
) -> None:
    """Two routers, one with another order of statements, share two backends per server."""
    routers = [await open_shards(cluster, dsns=pooled_dsns, max_connections=8) for _ in range(2)]
    ids = [
        await routers[0].shard(n).fetch_value(QUERIES.add, author_id=n, caption=caption) for n in range(16)
    ]

    async def check(number: int) -> None:
        shards, new_id = routers[number % 2], ids[number % 16]
        found = await shards.owner(new_id).fetch_one(QUERIES.find, id=new_id)
        assert found is not None
        assert (found["id"], found["author_id"]) == (new_id, number % 16)
        async with shards.owner(new_id).begin() as transaction:
            again = await transaction.fetch_one(QUERIES.find, id=new_id)
            assert again == found
            path = await fetch_value(transaction.connection, "SHOW search_path")
            assert path.startswith(shards.owner(new_id).schema)
        gathered = await shards.gather(QUERIES.get, ids[:3])
        assert sorted(row["id"] for row in gathered.complete()) == sorted(ids[:3])

    await asyncio.gather(*map(check, range(300)))


async def test_cancellations_leave_no_broken_connection_behind_the_pooler(
    pooled: Shards, shards: Shards
) -> None:
    tasks = [
        asyncio.create_task(pooled.shard(n % 16).fetch_value(QUERIES.nap, seconds=30.0)) for n in range(12)
    ]
    # Cancelled while statements run on the server and others wait for a connection of the pooler.
    while not await shards.shard(0).fetch_value(QUERIES.count_naps):  # noqa: ASYNC110 - waits for the server, not for us
        await asyncio.sleep(0.02)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)

    assert all(await asyncio.gather(*(pooled.shard(n % 16).fetch_value(QUERIES.whoami) for n in range(50))))


async def test_a_statement_that_takes_too_long_is_cancelled_through_the_pooler(
    cluster: Cluster, pooled_dsns: dict[str, str], open_shards: OpenShards
) -> None:
    shards = await open_shards(cluster, dsns=pooled_dsns, statement_timeout_s=0.5)

    with pytest.raises((TimeoutError, asyncpg.QueryCanceledError)):
        await shards.shard(0).fetch_value(QUERIES.nap, seconds=30.0)
    assert await shards.shard(0).fetch_value(QUERIES.whoami)


async def test_the_directory_may_lie_behind_the_pooler(pooled_dsns: dict[str, str]) -> None:
    directory = await Directory.open(pooled_dsns["a"])
    found = await directory.load()

    assert len(found.owners) == 16
    assert await directory.add_server("b", found.servers["b"].dsn) == found
    await directory.close()
