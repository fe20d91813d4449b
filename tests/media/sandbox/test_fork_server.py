import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.media.photos import sample_photos
from tests.media.sandbox.run_jobs import (
    MISBEHAVING,
    configured_sandbox,
    do,
    files_in,
    is_alive,
    start_sleeper,
    until,
)
from tintype.media.errors import MediaTooCostly, MediaUnavailable
from tintype.media.photos import make_photo_in_sandbox
from tintype.media.sandbox import SandboxOptions
from tintype.media.sandbox.connection import find_fork_server_pid

pytestmark = pytest.mark.slow


def _has_started(tmp_path: Path) -> bool:
    marker = tmp_path / "pid"
    return marker.exists() and bool(marker.read_text())


def kill_fork_server() -> None:
    fork_server = find_fork_server_pid()
    assert fork_server is not None
    with contextlib.suppress(ProcessLookupError):
        os.kill(fork_server, signal.SIGKILL)


async def test_the_fork_server_has_no_network() -> None:
    if subprocess.run(["unshare", "--user", "--net", "true"], check=False).returncode:  # noqa: ASYNC221, S607 - at once
        pytest.skip("this machine lets nobody leave the network")

    await do("echo", {})

    assert os.readlink(f"/proc/{find_fork_server_pid()}/ns/net") != os.readlink("/proc/self/ns/net")  # noqa: PTH115 - a link of /proc is text, not a path


async def test_the_fork_server_has_one_thread_so_that_it_may_fork() -> None:
    await do("echo", {})

    assert len(os.listdir(f"/proc/{find_fork_server_pid()}/task")) == 1  # noqa: PTH208 - numbers, not paths


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


async def test_a_killed_fork_server_takes_its_jobs_along_and_another_replaces_it(tmp_path: Path) -> None:
    sleeper, pid = await start_sleeper(tmp_path)
    fork_server = find_fork_server_pid()
    assert fork_server is not None
    (tmp_path / "pid").unlink()

    os.kill(fork_server, signal.SIGKILL)

    await until(lambda: not is_alive(pid))
    await until(lambda: _has_started(tmp_path))  # the job is tried once more
    assert find_fork_server_pid() != fork_server
    assert await do("echo", {}) == {}
    sleeper.cancel()


async def test_folders_of_a_killed_fork_server_are_removed_by_the_next(tmp_path: Path) -> None:
    with configured_sandbox(SandboxOptions(folder=tmp_path)):
        await do("echo", {})
        (left,) = files_in(tmp_path)

        kill_fork_server()
        await do("echo", {})

        await until(lambda: not (tmp_path / left).exists())
        (fresh,) = files_in(tmp_path)
        assert fresh != left
    assert files_in(tmp_path) == []


async def test_a_job_whose_fork_server_dies_twice_is_unavailable(tmp_path: Path) -> None:
    sleeper, _ = await start_sleeper(tmp_path)
    for _ in range(2):
        (tmp_path / "pid").unlink()
        kill_fork_server()
        if not sleeper.done():
            await until(lambda: _has_started(tmp_path) or sleeper.done())

    with pytest.raises(MediaUnavailable):
        await sleeper


async def test_jobs_beyond_the_concurrency_limit_wait(tmp_path: Path) -> None:
    sleepers = [await start_sleeper(tmp_path, f"pid{number}") for number in range(4)]
    late = tmp_path / "late"
    waiting = asyncio.create_task(do("sleep", timeout_s=600, progress=late))

    assert await do("echo", {}) == {}  # other jobs have room of their own
    assert not (late.exists() and late.read_text())
    sleepers[0][0].cancel()
    await until(lambda: late.exists() and late.read_text())

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
        "    job = asyncio.create_task(run_in_sandbox('sleep', None, timeout_s=600, progress=folder / 'pid'))\n"
        "    while not find_fork_server_pid(): await asyncio.sleep(0.01)\n"
        "    (folder / 'fork_server').write_text(str(find_fork_server_pid()))\n"
        "    await job\n"
        "asyncio.run(main())\n"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([*sys.path, os.getcwd()])}  # noqa: PTH109 - text is wanted
    caller = subprocess.Popen([sys.executable, str(script), str(tmp_path)], env=environment)  # noqa: ASYNC220 - starts at once
    await until(lambda: _has_started(tmp_path))
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


def waiting_helpers() -> list[int]:
    fork_server = find_fork_server_pid()
    children = Path(f"/proc/{fork_server}/task/{fork_server}/children").read_text()
    return [pid for pid in map(int, children.split()) if is_alive(pid)]


async def test_helpers_wait_for_jobs_and_each_takes_one() -> None:
    await do("echo", {})
    await until(lambda: len(waiting_helpers()) == SandboxOptions().helpers)
    (ready, *_) = waiting_helpers()

    seen = await do("tell_surroundings")

    assert seen["pid"] == ready
    assert not is_alive(ready)
    await until(lambda: len(waiting_helpers()) == SandboxOptions().helpers)
    assert ready not in waiting_helpers()


async def test_no_helper_waits_where_the_settings_want_none() -> None:
    with configured_sandbox(SandboxOptions(helpers=0)):
        assert await do("echo", {}) == {}

        assert waiting_helpers() == []


async def test_a_helper_killed_while_it_waits_is_replaced() -> None:
    await do("echo", {})
    await until(waiting_helpers)

    for _ in range(5):
        for pid in waiting_helpers():
            os.kill(pid, signal.SIGKILL)
        assert await do("echo", {}) == {}


async def test_a_job_whose_process_is_killed_is_tried_once_more(tmp_path: Path) -> None:
    sleeper, pid = await start_sleeper(tmp_path)
    marker = tmp_path / "pid"

    os.kill(pid, signal.SIGKILL)

    await until(lambda: marker.read_text() not in {"", str(pid)})
    os.kill(int(marker.read_text()), signal.SIGKILL)
    with pytest.raises(MediaTooCostly):
        await sleeper
    assert await do("echo", {}) == {}


async def test_photos_survive_kills_at_any_moment_and_nothing_is_left(tmp_path: Path) -> None:
    """Kill the fork server or a helper while a photo is made: it is made all the same, or a clean error says so."""
    (jobs := tmp_path / "jobs").mkdir()
    (source := tmp_path / "source").write_bytes(sample_photos.encode(sample_photos.landscape(1600, 1200)))
    outcomes: list[str] = []
    everybody: set[int] = set()

    with configured_sandbox(SandboxOptions(folder=jobs)):
        await do("echo", {})
        for moment in range(24):
            (out := tmp_path / f"out{moment}").mkdir()
            photo = asyncio.create_task(make_photo_in_sandbox(source, out))
            await asyncio.sleep(moment / 150)
            everybody |= {find_fork_server_pid() or 0, *waiting_helpers()}
            kill_fork_server() if moment % 2 else kill_one_helper()
            try:
                made = await photo
            except (MediaUnavailable, MediaTooCostly) as error:
                outcomes.append(error.code)
            else:
                outcomes.append("made")
                assert len(files_in(out)) == len(made.files) == 8

        assert outcomes.count("made") > 12
        assert (await make_photo_in_sandbox(source, tmp_path / "out0")).width == 1080
    await until(lambda: not any(is_alive(pid) for pid in everybody - {0}))
    assert files_in(jobs) == []


def kill_one_helper() -> None:
    for pid in waiting_helpers()[:1]:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
