"""Accounts and permissions: ordinary users, root with a separate server account, unreadable installations."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from shardwright.local import SystemAccount
from tests.stack.conftest import (
    Supervise,
    execute,
    fetch_value,
    identity_of,
    mode_of,
    only_root,
    owner_of,
    survivors,
)
from tests.support import eventually
from tintype.stack import DataDirectory, DataDirectoryUnusable, choose_data_directory
from tintype.stack.binaries import find_nats, find_valkey, make_runnable
from tintype.stack.engine_account import engine_account

SOMEBODY = 65_534


@only_root
@pytest.mark.slow
async def test_an_ordinary_user_runs_everything_as_itself(home: Path, supervise: Supervise) -> None:
    os.chown(home.parent, SOMEBODY, SOMEBODY)

    running = supervise("worker", "web", "replica", "replica", prefix=_become_somebody())

    assert await fetch_value(running.postgres, "SELECT 1") == 1
    await eventually(lambda: _has_replicas(running.postgres, 2), what="both replicas follow")
    assert {owner_of(each) for each in survivors(home)} == {SOMEBODY}
    assert mode_of(home) == 0o700
    running.process.terminate()
    assert running.process.wait(timeout=60) == 0
    assert survivors(home) == []


async def _has_replicas(dsn: str, count: int) -> bool:
    return await fetch_value(dsn, "SELECT count(*) FROM pg_stat_replication") == count


@only_root
@pytest.mark.slow
async def test_as_root_the_servers_run_as_an_unprivileged_account(supervise: Supervise) -> None:
    running = supervise("worker")
    account = engine_account()
    assert account is not None
    for name in ("postgres-1", "redis", "nats"):
        assert owner_of(identity_of(running.home, name)) == account.uid
    assert json.loads(running.environment["TINTYPE_POSTGRES"])


@only_root
@pytest.mark.slow
async def test_folders_of_nobody_are_handed_over_to_the_servers_own_account(
    home: Path, supervise: Supervise
) -> None:
    running = supervise("worker")
    await execute(running.postgres, "CREATE TABLE kept AS SELECT 42 AS answer")
    running.process.terminate()
    assert running.process.wait(timeout=60) == 0
    # As an earlier release left them, with a link that a program of `nobody` may have put there.
    for folder in ("postgres-1", "redis", "nats"):
        for path in (home / folder, *(home / folder).rglob("*")):
            os.chown(path, SOMEBODY, SOMEBODY, follow_symlinks=False)
    secret = home.parent / "of root"
    secret.touch(mode=0o600)
    trap = home / "nats" / "trap"
    trap.symlink_to(secret)
    os.chown(trap, SOMEBODY, SOMEBODY, follow_symlinks=False)

    again = supervise("worker")

    assert await fetch_value(again.postgres, "SELECT answer FROM kept") == 42
    account = engine_account()
    assert account is not None
    for folder in ("postgres-1", "redis", "nats"):
        owners = {path.lstat().st_uid for path in (home / folder, *(home / folder).rglob("*"))}
        assert owners == {account.uid}
    assert secret.stat().st_uid == 0


@only_root
def test_a_program_in_an_unreadable_folder_is_copied_to_where_the_account_can_run_it(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    program = closed / "true"
    program.write_bytes(Path("/bin/true").read_bytes())
    program.chmod(0o755)
    public = Path("/var/tmp") / f"tintype-engines-{os.getpid()}"  # noqa: S108 - reachable by all

    copy = make_runnable(program, "1.0", engine_account(), public)

    assert copy.parent == public
    assert subprocess.run([str(copy)], check=True, user=SOMEBODY, cwd="/").returncode == 0
    copy.unlink()
    public.rmdir()


@only_root
def test_a_data_directory_that_the_servers_cannot_access_is_refused_with_a_suggestion(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    with pytest.raises(DataDirectoryUnusable, match="--home /var/lib/tintype/main"):
        DataDirectory(tmp_path / "home").create()


@only_root
def test_the_default_data_directory_moves_to_where_the_servers_can_access_it(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    wanted = tmp_path / "checkout" / ".tintype"

    moved = choose_data_directory(wanted, is_chosen=False)

    assert moved.parent == Path("/var/lib/tintype")
    assert moved.name.endswith("checkout-tintype")
    assert choose_data_directory(wanted, is_chosen=True) == wanted


def test_server_versions_are_detected() -> None:
    assert find_valkey().version.count(".") == 2
    assert find_nats().version.count(".") == 2


def test_a_program_that_the_account_can_run_is_not_copied() -> None:
    assert make_runnable(Path("/bin/true"), "1.0", None) == Path("/bin/true")
    assert make_runnable(Path("/bin/true"), "1.0", SystemAccount("x", SOMEBODY, SOMEBODY)) == Path(
        "/bin/true"
    )


def _become_somebody() -> tuple[str, ...]:
    """Drop root's privileges, except for reading the interpreter where it lies in root's own folder."""
    become = ("setpriv", f"--reuid={SOMEBODY}", f"--regid={SOMEBODY}", "--clear-groups")
    if SystemAccount("somebody", SOMEBODY, SOMEBODY).can_traverse(Path(sys.executable).resolve().parent):
        return become
    return (*become, "--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search")
