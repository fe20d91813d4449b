"""PgBouncer in transaction mode in front of a cluster's servers, for tests."""

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from shardwright.local import server_account

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


@contextmanager
def run_pgbouncer(dsns: Mapping[str, str], run_directory: Path) -> Generator[dict[str, str]]:
    """The servers' addresses through PgBouncer, which runs for the duration of the block."""
    program = find_pgbouncer()
    directory = Path(tempfile.mkdtemp(prefix="pgbouncer-", dir=run_directory))
    directory.chmod(0o777)  # PgBouncer, too, leaves root for another account
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    parts = {name: urlsplit(dsn) for name, dsn in dsns.items()}
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
