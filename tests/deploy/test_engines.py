"""The configurations of HAProxy, PgBouncer, Patroni and NATS are valid, for the programs themselves where they are."""

import asyncio
import configparser
import re
import socket
import subprocess
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, urlsplit

import yaml

from shardwright.errors import ServerUnavailable
from shardwright.local import server_account
from shardwright.topology import fetch_value, open_connection
from tests.deploy.checkout import DEPLOY, find_program, run_check
from tintype.stack.binaries import find_nats

HAPROXY = (DEPLOY / "haproxy" / "haproxy.cfg").read_text()
PGBOUNCER = DEPLOY / "pgbouncer" / "pgbouncer.ini"
HAPROXY_KEYWORDS = {
    *(
        "maxconn",
        "log",
        "timeout",
        "mode",
        "bind",
        "http-request",
        "http-response",
        "default_backend",
        "balance",
    ),
    *("option", "http-check", "retries", "retry-on", "default-server", "server"),
}
PGBOUNCER_KEYS = {
    *(
        "listen_addr",
        "listen_port",
        "unix_socket_dir",
        "logfile",
        "pidfile",
        "auth_type",
        "auth_file",
        "pool_mode",
    ),
    *(
        "max_client_conn",
        "default_pool_size",
        "server_login_retry",
        "server_connect_timeout",
        "query_wait_timeout",
    ),
    "server_idle_timeout",
}
PATRONI_KEYS: dict[str, set[str]] = {
    "restapi": {"listen", "connect_address"},
    "etcd3": {"hosts"},
    "bootstrap": {"dcs", "initdb"},
    "postgresql": {"listen", "connect_address", "data_dir", "bin_dir", "pgpass", "authentication", "pg_hba"},
    "watchdog": {"mode"},
    "tags": {"nofailover", "noloadbalance"},
}
PATRONI_DCS = {
    "ttl",
    "loop_wait",
    "retry_timeout",
    "maximum_lag_on_failover",
    "synchronous_mode",
    "postgresql",
}


def test_haproxy_has_known_words_and_leads_to_patronis_primary(tmp_path: Path) -> None:
    sections = re.split(r"\n(?=(?:global|defaults|frontend|backend|listen)\b)", HAPROXY)
    for section in sections[1:]:
        lines = [line.split() for line in section.splitlines()[1:] if line.startswith("    ")]
        assert {words[0] for words in lines if not words[0].startswith("#")} <= HAPROXY_KEYWORDS
    databases = [each for each in sections if each.startswith("listen pg")]
    assert [each.split()[1] for each in databases] == ["pg1", "pg2"]
    assert all("uri /primary" in each and "check port 8008" in each for each in databases)
    haproxy = find_program("haproxy")
    if haproxy:
        file = tmp_path / "haproxy.cfg"
        file.write_text(re.sub(r" ssl crt \S+ alpn \S+", "", HAPROXY))  # there is no certificate here
        run_check(haproxy, "-c", "-f", str(file))


async def test_pgbouncer_pools_transactions_and_a_query_gets_through_it(
    engines: dict[str, Any], run_folder: Path
) -> None:
    parser = configparser.ConfigParser(interpolation=None)
    parser.read(PGBOUNCER)

    assert set(parser["pgbouncer"]) <= PGBOUNCER_KEYS
    assert parser["pgbouncer"]["pool_mode"] == "transaction"
    for name, address in parser["databases"].items():
        port = dict(word.split("=") for word in address.split())["port"]
        assert f"listen {name}\n    mode tcp\n    bind 127.0.0.1:{port}\n" in HAPROXY
    program = find_program("pgbouncer")
    if program:
        assert await _ask_through(program, run_folder / "deploy-pgbouncer", engines["postgres"][0]) == 42


async def test_patroni_has_known_keys_and_parameters_that_postgresql_knows(engines: dict[str, Any]) -> None:
    found: dict[str, Any] = yaml.safe_load((DEPLOY / "patroni" / "patroni.yml").read_text())
    wanted = found["bootstrap"]["dcs"]["postgresql"]["parameters"]

    assert set(found) == {"scope", "name", *PATRONI_KEYS}
    for section, keys in PATRONI_KEYS.items():
        assert set(found[section]) <= keys, section
    assert set(found["bootstrap"]["dcs"]) <= PATRONI_DCS
    assert found["bootstrap"]["dcs"]["synchronous_mode"] is True
    connection = await open_connection(engines["postgres"][0], "the engine")
    try:
        known = await fetch_value(
            connection, "SELECT count(*) FROM pg_settings WHERE name = ANY($1::text[])", list(wanted)
        )
    finally:
        await connection.close()
    assert known == len(wanted)


def test_nats_itself_accepts_its_configuration() -> None:
    run_check(str(find_nats().path), "-t", "-c", str(DEPLOY / "nats" / "nats.conf"))


async def _ask_through(program: str, folder: Path, dsn: str) -> object:
    """An answer of this server through PgBouncer with the shipped file, but for addresses and paths."""
    server, port = urlsplit(dsn), _free_port()
    file = _write_pgbouncer(folder, server, port)
    process = await asyncio.create_subprocess_exec(
        program, str(file), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        return await _ask(f"postgresql://{server.username}:{server.password}@127.0.0.1:{port}/pg1")
    finally:
        process.terminate()
        await process.wait()


def _write_pgbouncer(folder: Path, server: SplitResult, port: int) -> Path:
    folder.mkdir()
    folder.chmod(0o777)  # it leaves root for another account
    account = server_account()
    text = PGBOUNCER.read_text() + (f"user = {account.name}\n" if account else "")
    for old, new in {
        "port=5001 dbname=tintype": f"port={server.port} dbname={server.path[1:]}",
        "listen_port = 6432": f"listen_port = {port}",
        "/var/log/pgbouncer": str(folder),
        "/run/pgbouncer": str(folder),
        "/etc/pgbouncer": str(folder),
    }.items():
        assert old in text
        text = text.replace(old, new)
    (folder / "userlist.txt").write_text(f'"{server.username}" "{server.password}"\n')
    (folder / "pgbouncer.ini").write_text(text)
    return folder / "pgbouncer.ini"


async def _ask(dsn: str) -> object:
    """What the server behind answers, as soon as PgBouncer listens."""
    async with asyncio.timeout(20):
        while True:
            try:
                connection = await open_connection(dsn, "PgBouncer")
            except ServerUnavailable:
                await asyncio.sleep(0.05)
                continue
            try:
                return await fetch_value(connection, "SELECT 42")
            finally:
                await connection.close()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
