import asyncio
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.media.sandbox.doing import CHECKOUT, MISBEHAVING, do, is_alive, start_sleeper, until
from tintype.media.errors import (
    MediaUnavailable,
)
from tintype.media.sandbox.connection import close_helper, find_helper_pid


def kill_helper() -> None:
    helper = find_helper_pid()
    assert helper is not None
    os.kill(helper, signal.SIGKILL)


async def test_the_helper_has_left_the_network() -> None:
    if subprocess.run(["unshare", "--user", "--net", "true"], check=False).returncode:  # noqa: ASYNC221, S607 - at once
        pytest.skip("this machine lets nobody leave the network")

    await do("echo", {})

    assert os.readlink(f"/proc/{find_helper_pid()}/ns/net") != os.readlink("/proc/self/ns/net")  # noqa: PTH115


async def test_the_helper_has_one_thread_so_that_it_may_fork() -> None:
    await do("echo", {})

    assert len(os.listdir(f"/proc/{find_helper_pid()}/task")) == 1  # noqa: PTH208 - numbers, not paths


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


async def test_what_a_killed_helper_left_is_removed_by_the_next(tmp_path: Path) -> None:
    sleeper, _ = await start_sleeper(tmp_path)
    left = Path((await do("tell_surroundings"))["folder"]).parent
    sleeper.cancel()

    kill_helper()
    fresh = Path((await do("tell_surroundings"))["folder"]).parent

    assert fresh != left
    await until(lambda: not left.exists())
    assert fresh.exists()
    await asyncio.to_thread(close_helper)
    assert not fresh.exists()


async def test_a_job_that_loses_its_helper_twice_is_told_to_come_back(tmp_path: Path) -> None:
    sleeper, _ = await start_sleeper(tmp_path)
    for _ in range(2):
        (tmp_path / "pid").unlink()
        kill_helper()
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
        "from tintype.media.sandbox.connection import close_helper, find_helper_pid\n"
        f"JOBS['sleep'] = Job('{MISBEHAVING}:sleep')\n"
        "folder = Path(sys.argv[1])\n"
        "async def main():\n"
        "    job = asyncio.create_task(run_in_sandbox('sleep', str(folder / 'pid'), timeout_s=600,"
        " reads=[Path(sys.argv[2])], writes=[folder]))\n"
        "    while not find_helper_pid(): await asyncio.sleep(0.01)\n"
        "    (folder / 'helper').write_text(str(find_helper_pid()))\n"
        "    await job\n"
        "asyncio.run(main())\n"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([*sys.path, os.getcwd()])}  # noqa: PTH109 - text is wanted
    asker = subprocess.Popen([sys.executable, str(script), str(tmp_path), str(CHECKOUT)], env=environment)  # noqa: ASYNC220 - starts at once
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
