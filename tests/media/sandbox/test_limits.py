import asyncio
import os
import signal
from pathlib import Path

import pytest

from tests.media.sandbox.run_jobs import do, files_in, is_alive
from tintype.media.errors import (
    MediaAnimated,
    MediaDamaged,
    MediaRefused,
    MediaTooCostly,
    MediaTooSlow,
)
from tintype.media.sandbox import OUT
from tintype.media.sandbox.connection import close_fork_server, find_fork_server_pid
from tintype.media.sandbox.registry import JobLimits

pytestmark = pytest.mark.slow


async def test_a_job_receives_its_arguments_and_returns_its_result() -> None:
    assert await do("echo", {"a": [1, "ü", None, 2.5]}) == {"a": [1, "ü", None, 2.5]}


async def test_every_job_has_its_own_process_and_an_empty_folder() -> None:
    first, second = await do("tell_surroundings"), await do("tell_surroundings")

    assert first["pid"] != second["pid"]
    assert first["parent"] == second["parent"] == find_fork_server_pid() != os.getpid()
    assert first["files"] == second["files"] == []
    assert not is_alive(first["pid"])


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
        await do("overrun_memory", JobLimits().memory_bytes)


async def test_a_file_ends_at_the_limit(tmp_path: Path) -> None:
    with pytest.raises(MediaTooCostly):
        await do("fill_disk", outs={OUT: tmp_path})

    assert files_in(tmp_path) == []


async def test_processor_time_ends_at_the_limit() -> None:
    with pytest.raises(MediaTooSlow) as refused:
        await do("spin")

    assert refused.value.facts["is_timed_out"] is False


async def test_a_job_that_only_sleeps_is_ended_by_the_timeout(tmp_path: Path) -> None:
    with pytest.raises(MediaTooSlow) as refused:
        await do("sleep", timeout_s=1, progress=tmp_path / "pid")

    assert refused.value.facts["is_timed_out"] is True
    assert not is_alive(int((tmp_path / "pid").read_text()))


async def test_a_malformed_reply_is_a_refusal() -> None:
    with pytest.raises(MediaRefused):
        await do("talk_nonsense")
