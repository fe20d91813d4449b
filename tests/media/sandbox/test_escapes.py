"""A compromised decoder tries to leave the sandbox; every attempt fails, and the next job is served."""

import asyncio
import os
import secrets
import signal
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.media.sandbox.run_jobs import TINY, do, files_in, start_sleeper
from tintype.media.errors import MediaDamaged, MediaTooCostly
from tintype.media.sandbox import JOBS, OUT, PREFIX, SandboxJob
from tintype.media.sandbox.accounts import FIRST, LAST
from tintype.media.sandbox.connection import find_fork_server_pid
from tintype.media.sandbox.registry import JobLimits

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
async def the_fork_server_survives() -> AsyncIterator[None]:
    await do("echo", {})
    before = find_fork_server_pid()
    yield
    assert await do("echo", {"still": "here"}) == {"still": "here"}
    assert find_fork_server_pid() == before


def find_folder_of_sleeper() -> Path:
    return next(Path(tempfile.gettempdir()).glob(f"{PREFIX}*/*/{OUT}/of_a_sleeper"))


def allowed(outcomes: dict[str, str]) -> set[str]:
    return {attempt for attempt, outcome in outcomes.items() if outcome == "allowed"}


async def test_no_system_call_outside_the_list() -> None:
    outcomes = await do("call_the_kernel")

    assert len(outcomes) > 30
    assert set(outcomes.values()) <= {os.strerror(1), os.strerror(38)}


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="not applicable: only x86-64 has another ABI")
async def test_a_call_of_another_abi_kills_the_process() -> None:
    with pytest.raises(MediaDamaged) as refused:
        await do("call_another_abi")

    assert refused.value.facts["signal"] == signal.SIGSYS


async def test_no_sockets_of_any_kind() -> None:
    outcomes = await do("use_the_network")

    assert len(outcomes) == 7
    assert allowed(outcomes) == set()


async def test_no_files_but_its_own(tmp_path: Path) -> None:
    secret = tmp_path / "secret_key"
    secret.write_text(secrets.token_hex())
    source = tmp_path / "source"
    source.write_text("given")
    sleeper, _ = await start_sleeper(tmp_path)
    other_job = find_folder_of_sleeper()
    arguments = {
        "secret": str(secret),
        "elsewhere": str(tmp_path / "elsewhere"),
        "other_job": str(other_job),
    }

    outcomes = await do("use_other_files", arguments, source=source, outs={OUT: tmp_path})

    assert len(outcomes) > 20
    assert allowed(outcomes) == set()
    assert source.read_text() == "given"
    sleeper.cancel()


async def test_its_own_files(tmp_path: Path) -> None:
    (source := tmp_path / "source").write_text("given")
    (out := tmp_path / "out").mkdir()

    outcomes = await do("use_own_files", source=source, outs={OUT: out})

    assert outcomes == {
        "read the source": "given",
        "write": "allowed",
        "append": "allowed",
        "rename": "allowed",
    }
    assert files_in(out) == ["kept"]
    assert ((out / "kept").stat().st_uid, (out / "kept").stat().st_gid) == (os.geteuid(), os.getegid())


async def test_a_source_that_only_we_may_read(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.write_text("given")
    source.chmod(0o600)

    outcomes = await do("use_own_files", source=source)

    assert outcomes["read the source"] == "given"
    assert source.stat().st_mode & 0o777 == 0o600
    assert source.stat().st_nlink == 1


async def test_no_other_processes_limits_or_privileges() -> None:
    assert allowed(await do("disturb_processes")) == set()


async def test_nothing_can_be_loaded() -> None:
    assert "ModuleNotFoundError" in await do("load_a_module", "this")


async def test_threads_end_at_a_limit() -> None:
    assert await do("start_threads_without_end") < 5_000


@pytest.mark.skipif(os.geteuid() != 0, reason="not applicable: an ordinary user has no root to drop")
async def test_as_root_every_job_has_an_account_of_its_own(tmp_path: Path) -> None:
    sleeper, pid = await start_sleeper(tmp_path)

    account = await do("tell_account")

    assert len(set(account.values())) == 1
    assert FIRST <= account["uid"] <= LAST
    status = await asyncio.to_thread(Path(f"/proc/{pid}/status").read_text)
    assert f"Uid:\t{account['uid']}\t" not in status
    assert "Groups:\t \n" in status
    assert "CapEff:\t0000000000000000\n" in status
    assert "NoNewPrivs:\t1\n" in status
    assert "Seccomp:\t2\n" in status
    sleeper.cancel()


async def test_the_disk_is_not_filled_by_many_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    patient = JobLimits(cpu_s=60, file_bytes=TINY.file_bytes)  # on a busy machine the disk must be full first
    monkeypatch.setitem(JOBS, "write_many_files", SandboxJob(JOBS["write_many_files"].target, patient))

    with pytest.raises(MediaTooCostly):
        await do("write_many_files", outs={OUT: tmp_path})

    assert files_in(tmp_path) == []


async def test_more_files_than_any_job_makes_are_refused(tmp_path: Path) -> None:
    with pytest.raises(MediaDamaged):
        await do("leave_many_files", outs={OUT: tmp_path})

    assert files_in(tmp_path) == []


async def test_memory_of_many_jobs_at_once_is_limited_for_each() -> None:
    outcomes = await asyncio.gather(
        *(do("overrun_memory", JobLimits().memory_bytes) for _ in range(3)), return_exceptions=True
    )

    assert all(isinstance(outcome, MediaTooCostly) for outcome in outcomes)
