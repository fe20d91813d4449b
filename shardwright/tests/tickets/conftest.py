"""Real MariaDB servers for the ticket tests, private ones: own folder, own port, no system service touched."""

import contextlib
import itertools
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import asyncmy
import pytest

from shardwright.local import LocalServer, SystemAccount, server_account
from shardwright.tickets import Fleet, TicketOptions, Tickets

FreshDatabase = Callable[[LocalServer], Awaitable[str]]
FreshDsn = Callable[[str], Awaitable[str]]
ByHand = Callable[..., Awaitable[list[tuple[Any, ...]]]]
DrawMany = Callable[[Fleet], Awaitable[set[int]]]
# The shared PostgreSQL servers run without fsync: they live for a minute. A busy machine may take its time.
OPTIONS = TicketOptions(require_durability=False, probe_max_s=0.2, deadline_s=30.0)
_START_TIMEOUT_S = 60.0
_numbers = itertools.count(1)


def find_mariadb() -> str:
    """Return the server program; root gets Debian's package if it is absent."""
    path = f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin"
    found = shutil.which("mariadbd", path=path)
    apt_get = shutil.which("apt-get")
    if found is None and os.geteuid() == 0 and apt_get is not None:
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        for arguments in (["update"], ["install", "-y", "--no-install-recommends", "mariadb-server"]):
            subprocess.run([apt_get, *arguments], env=environment, check=False, capture_output=True)
        found = shutil.which("mariadbd", path=path)
    if found is None:
        pytest.skip("no mariadbd here: install Debian's mariadb-server, or run as root where apt-get works")
    return found


class LocalMariaDB:
    """A private MariaDB in one folder; may be crashed, hung and started again on the same port."""

    def __init__(self, directory: Path, program: str) -> None:
        self.directory = directory
        self.port = _free_port()
        self._program = program
        self._account: SystemAccount | None = server_account()
        self._process: subprocess.Popen[Any] | None = None  # any: only waited for, never read from

    def start(self) -> None:
        if not (self.directory / "data" / "mysql").exists():
            self._install()
        # A run that is killed takes its servers along.
        setpriv = shutil.which("setpriv")
        with (self.directory / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [
                    *([setpriv, "--pdeathsig", "KILL"] if setpriv else []),
                    self._program,
                    "--no-defaults",
                    f"--datadir={self.directory / 'data'}",
                    f"--socket={self.directory / 's'}",
                    f"--port={self.port}",
                    "--bind-address=127.0.0.1",
                    "--innodb-buffer-pool-size=16M",
                    "--skip-name-resolve",
                ],
                stdout=log,
                stderr=log,
                start_new_session=True,
                **self._as_account(),
            )
        self._wait_until_up()

    def crash(self) -> None:
        """Kill it as a crash of the machine would."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def hang(self) -> None:
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        self._signal(signal.SIGCONT)

    def dsn(self, database: str) -> str:
        return f"mysql://root:secret@127.0.0.1:{self.port}/{database}"

    def _signal(self, number: signal.Signals) -> None:
        assert self._process is not None
        self._process.send_signal(number)

    def _as_account(self) -> dict[str, Any]:
        account = self._account
        return {} if account is None else {"user": account.uid, "group": account.gid, "extra_groups": []}

    def _install(self) -> None:
        self.directory.mkdir(parents=True, exist_ok=True)
        if self._account is not None:
            os.chown(self.directory, self._account.uid, self._account.gid)
        start = self.directory / "start.sql"
        start.write_text(
            "FLUSH PRIVILEGES;\nCREATE OR REPLACE USER root@'127.0.0.1' IDENTIFIED BY 'secret';\n"
            "GRANT ALL ON *.* TO root@'127.0.0.1' WITH GRANT OPTION;\n"
        )
        start.chmod(0o644)
        command = [
            shutil.which("mariadb-install-db") or "mariadb-install-db",
            "--no-defaults",
            f"--datadir={self.directory / 'data'}",
            "--skip-test-db",
            "--skip-name-resolve",
            f"--extra-file={start}",
        ]
        # On a very busy machine the bootstrap server may time out: a second try starts from an empty folder.
        for attempt in (1, 2):
            done = subprocess.run(command, check=False, capture_output=True, text=True, **self._as_account())
            if done.returncode == 0:
                return
            shutil.rmtree(self.directory / "data", ignore_errors=True)
            if attempt == 2:
                pytest.fail(f"mariadb-install-db failed twice: {(done.stdout + done.stderr)[-2000:]}")

    def _wait_until_up(self) -> None:
        deadline = time.monotonic() + _START_TIMEOUT_S
        while time.monotonic() < deadline:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
                return
            time.sleep(0.05)
        pytest.fail(f"MariaDB did not start: {(self.directory / 'log').read_text()[-2000:]}")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="session")
def mariadb_program() -> str:
    return find_mariadb()


@pytest.fixture(scope="session")
def mariadb(run_directory: Path, mariadb_program: str) -> Iterator[LocalMariaDB]:
    """One server for the whole worker: make databases, don't stop it."""
    worker = os.environ.get("PYTEST_XDIST_WORKER", "alone")
    server = LocalMariaDB(run_directory / f"mariadb-{worker}", mariadb_program)
    server.start()
    yield server
    server.crash()


@pytest.fixture
def own_mariadb(run_directory: Path, mariadb_program: str) -> Iterator[LocalMariaDB]:
    """A server for one test alone, which may crash it."""
    server = LocalMariaDB(run_directory / f"own-mariadb-{os.getpid()}-{next(_numbers)}", mariadb_program)
    server.start()
    yield server
    server.crash()


async def run_mysql(dsn: str, *statements: str) -> list[tuple[Any, ...]]:
    """Run statements directly and return the last one's rows."""
    address, _, database = dsn.rpartition("/")
    host, _, port = address.rpartition("@")[2].partition(":")
    driver: Any = asyncmy  # its generated stubs leave most results untyped
    connection = await driver.connect(
        host=host, port=int(port), user="root", password="secret", database=database or None, autocommit=True
    )
    try:
        async with connection.cursor() as cursor:
            for statement in statements:
                await cursor.execute(statement)
            return list(await cursor.fetchall())
    finally:
        await connection.ensure_closed()


@pytest.fixture
async def fresh_dsn(request: pytest.FixtureRequest, fresh_database: FreshDatabase) -> FreshDsn:
    """Make empty databases of a kind: `await fresh_dsn("mariadb")`."""

    async def make(kind: str) -> str:
        if kind == "postgresql":
            # Each on another of the shared servers, in turn.
            servers: Mapping[str, LocalServer] = request.getfixturevalue("servers")
            return await fresh_database(servers["ab"[next(_numbers) % 2]])
        mariadb: LocalMariaDB = request.getfixturevalue("mariadb")
        database = f"t{next(_numbers)}"
        await run_mysql(mariadb.dsn(""), f"CREATE DATABASE {database}")
        return mariadb.dsn(database)

    return make


@pytest.fixture(
    params=[
        "postgresql mariadb",  # one of each kind: what the fast tests leave to the other two is which comes first
        pytest.param("postgresql postgresql", marks=pytest.mark.slow),
        pytest.param("mariadb mariadb", marks=pytest.mark.slow),
    ]
)
async def fleet(request: pytest.FixtureRequest, fresh_dsn: FreshDsn) -> Fleet:
    """Two servers of each kind, and one of both kinds together, initialized with 16 slots and one sequence."""
    first, second = str(request.param).split()
    fleet = Fleet({"one": await fresh_dsn(first), "two": await fresh_dsn(second)})
    await fleet.initialize()
    await fleet.create_sequence("photos")
    return fleet


@pytest.fixture
async def tickets(fleet: Fleet) -> AsyncIterator[Tickets]:
    async with await Tickets.open(list(fleet.servers.values()), OPTIONS) as tickets:
        yield tickets


@pytest.fixture
def options() -> TicketOptions:
    return OPTIONS


@pytest.fixture
def by_hand() -> ByHand:
    """Run statements directly on a MariaDB server."""
    return run_mysql


@pytest.fixture
def draw_many() -> DrawMany:
    """Draw fifty tickets of a fleet's photos, which must all differ."""

    async def draw(fleet: Fleet) -> set[int]:
        async with await Tickets.open(list(fleet.servers.values()), OPTIONS) as tickets:
            drawn = [await tickets.next("photos") for _ in range(50)]
        assert len(set(drawn)) == len(drawn)
        return set(drawn)

    return draw
