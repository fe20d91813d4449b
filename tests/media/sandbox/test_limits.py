import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.media.sandbox.run_jobs import TINY, do, is_alive
from tintype.media.errors import (
    MediaAnimated,
    MediaDamaged,
    MediaRefused,
    MediaTooCostly,
    MediaTooSlow,
)
from tintype.media.sandbox.connection import close_fork_server, find_fork_server_pid


@pytest.mark.slow
async def test_a_job_receives_its_arguments_and_returns_its_result() -> None:
    assert await do("echo", {"a": [1, "ü", None, 2.5]}) == {"a": [1, "ü", None, 2.5]}


async def test_every_job_has_its_own_process_and_folder_which_are_removed_afterwards() -> None:
    first, second = await do("tell_surroundings"), await do("tell_surroundings")

    assert first["pid"] != second["pid"]
    assert first["parent"] == second["parent"] == find_fork_server_pid() != os.getpid()
    assert first["folder"] != second["folder"]
    assert not is_alive(first["pid"])
    assert not os.path.exists(first["folder"])  # noqa: ASYNC240, PTH110 - a look, after the fact


@pytest.mark.slow
async def test_a_job_sees_no_settings_and_holds_no_sockets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TINTYPE_SECRET_KEY", "hunter2")
    await asyncio.to_thread(close_fork_server)

    seen = await do("tell_surroundings")

    assert "hunter2" not in str(seen["environment"])
    assert not [name for name in seen["environment"] if name.startswith("TINTYPE")]
    assert seen["open_files"] == 4  # the standard streams, which lead nowhere, and the answer


async def test_a_refusal_arrives_as_it_was_raised() -> None:
    with pytest.raises(MediaAnimated) as refused:
        await do("refuse")

    assert refused.value.facts["frames"] == 3


async def test_the_exception_of_a_failing_job_is_not_shown_to_people() -> None:
    with pytest.raises(MediaDamaged) as refused:
        await do("break_down")

    assert "secret" not in refused.value.detail
    assert "secret" in refused.value.facts["error"]


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGILL])
async def test_a_crash_fails_that_job_alone(number: int) -> None:
    crash, echo = await asyncio.gather(do("crash", number), do("echo", {}), return_exceptions=True)

    assert isinstance(crash, MediaDamaged)
    assert echo == {}


async def test_a_job_that_is_killed_for_memory_is_too_costly() -> None:
    with pytest.raises(MediaTooCostly):
        await do("crash", signal.SIGKILL)


async def test_memory_ends_at_the_limit() -> None:
    assert await do("overrun_memory", 100 << 20) == 100 << 20

    with pytest.raises(MediaTooCostly):
        await do("overrun_memory", 1600 << 20)


async def test_a_file_ends_at_the_limit(tmp_path: Path) -> None:
    with pytest.raises(MediaTooCostly):
        await do("fill_disk", str(tmp_path / "large"), writes=[tmp_path])

    assert (tmp_path / "large").stat().st_size <= TINY.file_bytes


@pytest.mark.slow
async def test_processor_time_ends_at_the_limit() -> None:
    with pytest.raises(MediaTooSlow) as refused:
        await do("spin")

    assert refused.value.facts["is_timed_out"] is False


@pytest.mark.slow
async def test_a_job_that_only_sleeps_is_ended_by_the_timeout(tmp_path: Path) -> None:
    with pytest.raises(MediaTooSlow) as refused:
        await do("sleep", str(tmp_path / "pid"), timeout_s=1, writes=[tmp_path])

    assert refused.value.facts["is_timed_out"] is True
    assert not is_alive(int((tmp_path / "pid").read_text()))


async def test_a_malformed_reply_is_a_refusal() -> None:
    with pytest.raises(MediaRefused):
        await do("talk_nonsense")


@pytest.mark.slow
async def test_isolation_blocks_network_files_processes_and_signals(tmp_path: Path) -> None:
    secret, given, out = tmp_path / "secret", tmp_path / "given", tmp_path / "out"
    secret.write_text("x")
    given.write_text("x")
    out.mkdir()
    paths = {"secret": secret, "given": given, "out": out, "elsewhere": tmp_path / "elsewhere"}

    tried = await do(
        "try_to_escape", {name: str(path) for name, path in paths.items()}, reads=[given], writes=[out]
    )

    allowed = {"read given", "write given", "write temporary"}
    for mechanism, blocked in (
        ("seccomp", {"socket", "unix socket", "program", "process", "signal"}),
        ("landlock", {"read elsewhere", "write elsewhere"}),
    ):
        if mechanism not in isolation_here():
            allowed |= blocked
    assert {attempt for attempt, outcome in tried.items() if outcome == "allowed"} == allowed


def isolation_here() -> list[str]:
    """The kinds of isolation that this machine's kernel has, tried in a process that does nothing else."""
    code = (
        "from tintype.media.sandbox.limits import *; from tintype.media.sandbox.isolation import *;"
        "control_process(PR_SET_NO_NEW_PRIVS, 1); print(*isolate_process([], []))"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
    ).stdout.split()
