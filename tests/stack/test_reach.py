"""Who may run what: ordinary users, root with an account to lend, and installations that others cannot enter."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from shardwright.local import Account, server_account
from tests.stack.conftest import Supervise, ask, identity_of, mode_of, owner_of, survivors
from tintype.stack import Home, HomeUnusable, place_home
from tintype.stack.binaries import find_nats, find_valkey, within_reach

only_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
SOMEBODY = 65_534


@only_root
@pytest.mark.slow
async def test_an_ordinary_user_runs_everything_as_itself(home: Path, supervise: Supervise) -> None:
    os.chown(home.parent, SOMEBODY, SOMEBODY)

    running = supervise("worker", "web", prefix=_become_somebody())

    assert await ask(running.postgres, "SELECT 1") == 1
    assert {owner_of(each) for each in survivors(home)} == {SOMEBODY}
    assert mode_of(home) == 0o700
    running.process.terminate()
    assert running.process.wait(timeout=60) == 0
    assert survivors(home) == []


@only_root
@pytest.mark.slow
async def test_root_lends_the_servers_an_account_without_rights(supervise: Supervise) -> None:
    running = supervise("worker")
    account = server_account()
    assert account is not None
    for name in ("postgres-1", "redis", "nats"):
        assert owner_of(identity_of(running.home, name)) == account.uid
    assert json.loads(running.environment["TINTYPE_POSTGRES"])


@only_root
def test_a_program_in_a_closed_folder_is_copied_to_where_the_account_can_run_it(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    program = closed / "true"
    program.write_bytes(Path("/bin/true").read_bytes())
    program.chmod(0o755)
    public = Path("/var/tmp") / f"tintype-engines-{os.getpid()}"  # noqa: S108 - reachable by all

    copy = within_reach(program, "1.0", server_account(), public)

    assert copy.parent == public
    assert subprocess.run([str(copy)], check=True, user=SOMEBODY, cwd="/").returncode == 0
    copy.unlink()
    public.rmdir()


@only_root
def test_a_home_that_the_servers_cannot_enter_is_refused_with_a_better_place(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    with pytest.raises(HomeUnusable, match="--home /var/lib/tintype/main"):
        Home(tmp_path / "home").create()


@only_root
def test_the_default_home_moves_to_where_the_servers_can_enter(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    wanted = tmp_path / "checkout" / ".tintype"

    moved = place_home(wanted, is_chosen=False)

    assert moved.parent == Path("/var/lib/tintype")
    assert moved.name.endswith("checkout-tintype")
    assert place_home(wanted, is_chosen=True) == wanted


def test_the_engines_tell_their_versions() -> None:
    assert find_valkey().version.count(".") == 2
    assert find_nats().version.count(".") == 2


def test_an_account_for_nobody_needs_no_copy() -> None:
    assert within_reach(Path("/bin/true"), "1.0", None) == Path("/bin/true")
    assert within_reach(Path("/bin/true"), "1.0", Account("x", SOMEBODY, SOMEBODY)) == Path("/bin/true")


def _become_somebody() -> tuple[str, ...]:
    """Drop root's rights, save the one to read the interpreter where that lies in root's own folder."""
    become = ("setpriv", f"--reuid={SOMEBODY}", f"--regid={SOMEBODY}", "--clear-groups")
    if Account("somebody", SOMEBODY, SOMEBODY).may_enter(Path(sys.executable).resolve().parent):
        return become
    return (*become, "--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search")
