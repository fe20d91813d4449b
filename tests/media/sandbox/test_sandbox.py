import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tintype.media.errors import (
    MediaAnimated,
    MediaDamaged,
    MediaRefused,
    MediaTooCostly,
    MediaTooSlow,
    MediaUnavailable,
)
from tintype.media.sandbox import JOBS, Job, Limits, run_in_sandbox
from tintype.media.sandbox.connection import close_helper, find_helper_pid

MISBEHAVING = "tests.media.sandbox.misbehaving"
TINY = Limits(cpu_s=1, file_bytes=4 << 20)


@pytest.fixture(scope="module", autouse=True)
def helper() -> Iterator[None]:
    yield
    close_helper()


@pytest.fixture(autouse=True)
def jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (
        "echo", "tell_surroundings", "sleep", "spin", "crash", "overrun_memory", "fill_disk", "refuse", "break_down",
        "talk_nonsense", "try_doors",
    ):  # fmt: skip
        monkeypatch.setitem(JOBS, name, Job(f"{MISBEHAVING}:{name}", TINY, at_once=4))


async def do(name: str, arguments: Any = None, timeout_s: float = 30, **paths: Any) -> Any:
    return await run_in_sandbox(name, arguments, timeout_s, **paths)


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


async def until(condition: Any, patience_s: float = 20) -> None:
    deadline = time.monotonic() + patience_s
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        await asyncio.sleep(0.02)


async def start_sleeper(tmp_path: Path, name: str = "pid") -> tuple[asyncio.Task[Any], int]:
    """A job that sleeps for ten minutes, and its process id."""
    marker = tmp_path / name
    sleeper = asyncio.create_task(do("sleep", str(marker), timeout_s=600, writes=[tmp_path]))
    await until(lambda: marker.exists() and marker.read_text())
    return sleeper, int(marker.read_text())


async def test_a_job_gets_its_arguments_and_gives_its_result() -> None:
    assert await do("echo", {"a": [1, "ü", None, 2.5]}) == {"a": [1, "ü", None, 2.5]}


async def test_every_job_has_a_process_and_a_folder_of_its_own_that_are_gone_afterwards() -> None:
    first, second = await do("tell_surroundings"), await do("tell_surroundings")

    assert first["pid"] != second["pid"]
    assert first["parent"] == second["parent"] == find_helper_pid() != os.getpid()
    assert first["folder"] != second["folder"]
    assert not is_alive(first["pid"])
    assert not os.path.exists(first["folder"])  # noqa: ASYNC240, PTH110 - a look, after the fact


async def test_a_job_sees_no_settings_and_holds_no_sockets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TINTYPE_SECRET_KEY", "hunter2")
    await asyncio.to_thread(close_helper)

    seen = await do("tell_surroundings")

    assert "hunter2" not in str(seen["environment"])
    assert not [name for name in seen["environment"] if name.startswith("TINTYPE")]
    assert seen["open_files"] == 4  # the standard streams, which lead nowhere, and the answer


async def test_a_refusal_arrives_as_it_was_raised() -> None:
    with pytest.raises(MediaAnimated) as refused:
        await do("refuse")

    assert refused.value.facts["frames"] == 3


async def test_a_job_that_breaks_says_nothing_to_people() -> None:
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


async def test_processor_time_ends_at_the_limit() -> None:
    with pytest.raises(MediaTooSlow) as refused:
        await do("spin")

    assert refused.value.facts["is_timed_out"] is False


async def test_a_job_that_only_waits_is_ended_by_the_clock(tmp_path: Path) -> None:
    with pytest.raises(MediaTooSlow) as refused:
        await do("sleep", str(tmp_path / "pid"), timeout_s=1, writes=[tmp_path])

    assert refused.value.facts["is_timed_out"] is True
    assert not is_alive(int((tmp_path / "pid").read_text()))


async def test_nonsense_in_an_answer_is_a_refusal() -> None:
    with pytest.raises(MediaRefused):
        await do("talk_nonsense")


async def test_doors_are_shut(tmp_path: Path) -> None:
    secret, given, out = tmp_path / "secret", tmp_path / "given", tmp_path / "out"
    secret.write_text("x")
    given.write_text("x")
    out.mkdir()
    doors = {"secret": secret, "given": given, "out": out, "elsewhere": tmp_path / "elsewhere"}

    tried = await do(
        "try_doors", {name: str(path) for name, path in doors.items()}, reads=[given], writes=[out]
    )

    open_doors = {"read given", "write given", "write temporary"}
    for wall, behind in (
        ("seccomp", {"socket", "unix socket", "program", "process", "signal"}),
        ("landlock", {"read elsewhere", "write elsewhere"}),
    ):
        if wall not in walls_here():
            open_doors |= behind
    assert {door for door, answer in tried.items() if answer == "allowed"} == open_doors


def walls_here() -> list[str]:
    """The walls this machine's kernel can raise, tried in a process that does nothing else."""
    code = (
        "from tintype.media.sandbox.limits import *; from tintype.media.sandbox.walls import *;"
        "control_process(PR_SET_NO_NEW_PRIVS, 1); print(*raise_walls([], []))"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment
    ).stdout.split()


async def test_the_helper_has_left_the_network() -> None:
    if subprocess.run(["unshare", "--user", "--net", "true"], check=False).returncode:  # noqa: ASYNC221, S607 - at once
        pytest.skip("this machine lets nobody leave the network")

    await do("echo", {})

    assert os.readlink(f"/proc/{find_helper_pid()}/ns/net") != os.readlink("/proc/self/ns/net")  # noqa: PTH115


async def test_giving_up_at_any_moment_harms_no_other_job(tmp_path: Path) -> None:
    sleeper, _ = await start_sleeper(tmp_path)
    helper = find_helper_pid()

    for moment in range(30):
        hasty = asyncio.create_task(do("echo", {}))
        await asyncio.sleep(moment / 2000)
        hasty.cancel()
        await asyncio.gather(hasty, return_exceptions=True)

    assert await do("echo", {}) == {}
    assert find_helper_pid() == helper
    assert not sleeper.done()
    sleeper.cancel()


async def test_giving_up_ends_the_process(tmp_path: Path) -> None:
    sleeper, pid = await start_sleeper(tmp_path)

    sleeper.cancel()

    with pytest.raises(asyncio.CancelledError):
        await sleeper
    await until(lambda: not is_alive(pid))


async def test_a_killed_helper_takes_its_jobs_along_and_another_takes_over(tmp_path: Path) -> None:
    sleeper, pid = await start_sleeper(tmp_path)
    helper = find_helper_pid()
    assert helper is not None
    (tmp_path / "pid").unlink()

    os.kill(helper, signal.SIGKILL)

    await until(lambda: not is_alive(pid))
    await until((tmp_path / "pid").exists)  # the job is tried once more
    assert find_helper_pid() != helper
    assert await do("echo", {}) == {}
    sleeper.cancel()


async def test_a_job_that_loses_its_helper_twice_is_told_to_come_back(tmp_path: Path) -> None:
    sleeper, _ = await start_sleeper(tmp_path)
    for _ in range(2):
        (tmp_path / "pid").unlink()
        os.kill(find_helper_pid() or 0, signal.SIGKILL)
        if not sleeper.done():
            await until(lambda: (tmp_path / "pid").exists() or sleeper.done())

    with pytest.raises(MediaUnavailable):
        await sleeper


async def test_jobs_beyond_what_may_run_at_once_wait_their_turn(tmp_path: Path) -> None:
    sleepers = [await start_sleeper(tmp_path, f"pid{number}") for number in range(4)]
    waiting = asyncio.create_task(do("sleep", str(tmp_path / "late"), timeout_s=600, writes=[tmp_path]))

    assert await do("echo", {}) == {}  # other jobs have room of their own
    assert not (tmp_path / "late").exists()
    sleepers[0][0].cancel()
    await until((tmp_path / "late").exists)

    for sleeper in (waiting, *(each for each, _ in sleepers)):
        sleeper.cancel()


async def test_threads_with_loops_of_their_own_share_the_helper() -> None:
    found: list[Any] = []

    def ask() -> None:
        found.append(asyncio.run(do("tell_surroundings")))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    await asyncio.to_thread(lambda: [thread.join() for thread in threads])

    await do("echo", {})  # still there after the thread that started it has ended
    assert {seen["parent"] for seen in found} == {find_helper_pid()}


async def test_nothing_stays_behind_when_the_process_that_asked_is_killed(tmp_path: Path) -> None:
    script = tmp_path / "asker.py"
    script.write_text(
        "import asyncio, sys\n"
        "from pathlib import Path\n"
        "from tintype.media.sandbox import JOBS, Job, run_in_sandbox\n"
        "from tintype.media.sandbox.connection import find_helper_pid\n"
        f"JOBS['sleep'] = Job('{MISBEHAVING}:sleep')\n"
        "folder = Path(sys.argv[1])\n"
        "async def main():\n"
        "    job = asyncio.create_task(run_in_sandbox('sleep', str(folder / 'pid'), timeout_s=600,"
        " writes=[folder]))\n"
        "    while not find_helper_pid(): await asyncio.sleep(0.01)\n"
        "    (folder / 'helper').write_text(str(find_helper_pid()))\n"
        "    await job\n"
        "asyncio.run(main())\n"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([*sys.path, os.getcwd()])}  # noqa: PTH109 - text is wanted
    asker = subprocess.Popen([sys.executable, str(script), str(tmp_path)], env=environment)  # noqa: ASYNC220 - starts at once
    await until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text())
    pids = [int((tmp_path / name).read_text()) for name in ("pid", "helper")]

    asker.kill()
    asker.wait()

    await until(lambda: not any(is_alive(pid) for pid in pids))


async def test_a_forked_process_starts_a_helper_of_its_own() -> None:
    await do("echo", {})
    ours = find_helper_pid()
    reading, writing = os.pipe()

    child = os.fork()
    if child == 0:
        os.write(writing, b"none" if find_helper_pid() is None else b"inherited")
        os._exit(0)
    await asyncio.to_thread(os.waitpid, child, 0)

    assert os.read(reading, 20) == b"none"
    assert find_helper_pid() == ours
    assert await do("echo", {}) == {}
    os.close(reading)
    os.close(writing)
