import asyncio
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.media.sandbox.run_jobs import CHECKOUT, MISBEHAVING, do, is_alive, start_sleeper, until
from tintype.media.errors import (
    MediaUnavailable,
)
from tintype.media.sandbox.connection import close_fork_server, find_fork_server_pid


def kill_fork_server() -> None:
    fork_server = find_fork_server_pid()
    assert fork_server is not None
    os.kill(fork_server, signal.SIGKILL)


async def test_the_fork_server_has_no_network() -> None:
    if subprocess.run(["unshare", "--user", "--net", "true"], check=False).returncode:  # noqa: ASYNC221, S607 - at once
        pytest.skip("this machine lets nobody leave the network")

    await do("echo", {})

    assert os.readlink(f"/proc/{find_fork_server_pid()}/ns/net") != os.readlink("/proc/self/ns/net")  # noqa: PTH115 - a link of /proc is text, not a path


async def test_the_fork_server_has_one_thread_so_that_it_may_fork() -> None:
    await do("echo", {})

    assert len(os.listdir(f"/proc/{find_fork_server_pid()}/task")) == 1  # noqa: PTH208 - numbers, not paths


@pytest.mark.slow
async def test_cancelling_at_any_moment_harms_no_other_job(tmp_path: Path) -> None:
    sleeper, _ = await start_sleeper(tmp_path)
    fork_server = find_fork_server_pid()

    for moment in range(30):
        hasty = asyncio.create_task(do("echo", {}))
        await asyncio.sleep(moment / 2000)
        hasty.cancel()
        await asyncio.gather(hasty, return_exceptions=True)

    assert await do("echo", {}) == {}
    assert find_fork_server_pid() == fork_server
    assert not sleeper.done()
    sleeper.cancel()


async def test_cancelling_ends_the_process(tmp_path: Path) -> None:
    sleeper, pid = await start_sleeper(tmp_path)

    sleeper.cancel()

    with pytest.raises(asyncio.CancelledError):
        await sleeper
    await until(lambda: not is_alive(pid))


@pytest.mark.slow
async def test_a_killed_fork_server_takes_its_jobs_along_and_another_replaces_it(tmp_path: Path) -> None:
    sleeper, pid = await start_sleeper(tmp_path)
    fork_server = find_fork_server_pid()
    assert fork_server is not None
    (tmp_path / "pid").unlink()

    os.kill(fork_server, signal.SIGKILL)

    await until(lambda: not is_alive(pid))
    await until((tmp_path / "pid").exists)  # the job is tried once more
    assert find_fork_server_pid() != fork_server
    assert await do("echo", {}) == {}
    sleeper.cancel()


@pytest.mark.slow
async def test_folders_of_a_killed_fork_server_are_removed_by_the_next(tmp_path: Path) -> None:
    sleeper, _ = await start_sleeper(tmp_path)
    left = Path((await do("tell_surroundings"))["folder"]).parent
    sleeper.cancel()

    kill_fork_server()
    fresh = Path((await do("tell_surroundings"))["folder"]).parent

    assert fresh != left
    await until(lambda: not left.exists())
    assert fresh.exists()
    await asyncio.to_thread(close_fork_server)
    assert not fresh.exists()


@pytest.mark.slow
async def test_a_job_whose_fork_server_dies_twice_is_unavailable(tmp_path: Path) -> None:
    sleeper, _ = await start_sleeper(tmp_path)
    for _ in range(2):
        (tmp_path / "pid").unlink()
        kill_fork_server()
        if not sleeper.done():
            await until(lambda: (tmp_path / "pid").exists() or sleeper.done())

    with pytest.raises(MediaUnavailable):
        await sleeper


@pytest.mark.slow
async def test_jobs_beyond_the_concurrency_limit_wait(tmp_path: Path) -> None:
    sleepers = [await start_sleeper(tmp_path, f"pid{number}") for number in range(4)]
    waiting = asyncio.create_task(do("sleep", str(tmp_path / "late"), timeout_s=600, writes=[tmp_path]))

    assert await do("echo", {}) == {}  # other jobs have room of their own
    assert not (tmp_path / "late").exists()
    sleepers[0][0].cancel()
    await until((tmp_path / "late").exists)

    for sleeper in (waiting, *(each for each, _ in sleepers)):
        sleeper.cancel()


async def test_threads_with_their_own_event_loops_share_the_fork_server() -> None:
    found: list[Any] = []

    def ask() -> None:
        found.append(asyncio.run(do("tell_surroundings")))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    await asyncio.to_thread(lambda: [thread.join() for thread in threads])

    await do("echo", {})  # still there after the thread that started it has ended
    assert {seen["parent"] for seen in found} == {find_fork_server_pid()}


@pytest.mark.slow
async def test_no_process_is_left_when_the_calling_process_is_killed(tmp_path: Path) -> None:
    script = tmp_path / "caller.py"
    script.write_text(
        "import asyncio, sys\n"
        "from pathlib import Path\n"
        "from tintype.media.sandbox import JOBS, SandboxJob, run_in_sandbox\n"
        "from tintype.media.sandbox.connection import close_fork_server, find_fork_server_pid\n"
        f"JOBS['sleep'] = SandboxJob('{MISBEHAVING}:sleep')\n"
        "folder = Path(sys.argv[1])\n"
        "async def main():\n"
        "    job = asyncio.create_task(run_in_sandbox('sleep', str(folder / 'pid'), timeout_s=600,"
        " reads=[Path(sys.argv[2])], writes=[folder]))\n"
        "    while not find_fork_server_pid(): await asyncio.sleep(0.01)\n"
        "    (folder / 'fork_server').write_text(str(find_fork_server_pid()))\n"
        "    await job\n"
        "asyncio.run(main())\n"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([*sys.path, os.getcwd()])}  # noqa: PTH109 - text is wanted
    caller = subprocess.Popen([sys.executable, str(script), str(tmp_path), str(CHECKOUT)], env=environment)  # noqa: ASYNC220 - starts at once
    await until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text())
    pids = [int((tmp_path / name).read_text()) for name in ("pid", "fork_server")]

    caller.kill()
    caller.wait()

    await until(lambda: not any(is_alive(pid) for pid in pids))


async def test_a_forked_process_starts_its_own_fork_server() -> None:
    await do("echo", {})
    ours = find_fork_server_pid()
    reading, writing = os.pipe()

    child = os.fork()
    if child == 0:
        os.write(writing, b"none" if find_fork_server_pid() is None else b"inherited")
        os._exit(0)
    await asyncio.to_thread(os.waitpid, child, 0)

    assert os.read(reading, 20) == b"none"
    assert find_fork_server_pid() == ours
    assert await do("echo", {}) == {}
    os.close(reading)
    os.close(writing)
