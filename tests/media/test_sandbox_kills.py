"""kill -9 of the sandbox's processes while photos are uploaded over HTTP: retried or refused, and nothing is left."""

import asyncio
import contextlib
from pathlib import Path

import psutil
import pytest
from httpx import AsyncClient

from tests.support import Person, eventually, join, photo
from tests.web_process import WebProcess, open_web
from tintype.wiring import Rooms

FORK_SERVER = "tintype.media.sandbox.fork_server"
CLEAR_ERRORS = {(503, "media_unavailable"), (400, "media_too_costly")}
KILLS = 4
pytestmark = pytest.mark.slow


def fork_servers(web: WebProcess) -> list[psutil.Process]:
    return [each for each in psutil.Process(web.pid).children(recursive=True) if _is_fork_server(each)]


def helpers(web: WebProcess) -> list[psutil.Process]:
    """The processes that do a job or wait for one."""
    found: list[psutil.Process] = []
    for each in fork_servers(web):
        with contextlib.suppress(psutil.NoSuchProcess):
            found += each.children()
    return found


def _is_fork_server(process: psutil.Process) -> bool:
    try:
        parent = process.parent()
        return FORK_SERVER in process.cmdline() and parent is not None and FORK_SERVER not in parent.cmdline()
    except psutil.NoSuchProcess:
        return False


def kill(processes: list[psutil.Process]) -> None:
    for each in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            each.kill()


def is_running(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


async def upload_and_kill(eve: Person, web: WebProcess, *, target: str, moment: int) -> tuple[int, str]:
    """Upload a photo of several megapixels, kill a part of the sandbox meanwhile, and return status and code."""
    uploading = asyncio.create_task(eve.upload(photo(2400, 1800)))
    await asyncio.sleep(moment * 0.07)
    kill(fork_servers(web) if target == "fork server" else helpers(web))
    answer = await uploading
    return answer.status_code, answer.json().get("code", "")


@pytest.mark.parametrize("target", ["fork server", "helpers"])
async def test_an_upload_whose_sandbox_is_killed_is_retried_or_refused_and_nothing_is_left(
    rooms: Rooms, tmp_path: Path, target: str
) -> None:
    seen: set[psutil.Process] = set()
    answers: list[tuple[int, str]] = []
    (work := tmp_path / "work").mkdir()
    chosen = {"media_store": str(tmp_path / "media"), "media_work": str(work)}
    with open_web(rooms.settings, rate_limits="all=off", **chosen) as web:
        async with AsyncClient(base_url=web.address, timeout=60) as client:
            eve = await join(client, "eve")
            assert (await eve.upload()).status_code == 201
            for moment in range(KILLS):
                seen |= {*fork_servers(web), *helpers(web)}
                answers.append(await upload_and_kill(eve, web, target=target, moment=moment))
                assert (await eve.upload()).status_code == 201
            kept = {*fork_servers(web), *helpers(web)}
            assert len(fork_servers(web)) == 1

        async def no_orphans() -> bool:
            return not any(is_running(each) for each in seen - kept - {*helpers(web)})

        await eventually(no_orphans, what="no process of a killed sandbox is left")
        crashes = [line for line in web.log.read_text().splitlines() if "crashed" in line]

    made = [status for status, _ in answers if status == 201]
    folders = {path.split("/")[1] for path in _files(tmp_path / "media") if not path.startswith("private")}
    assert {each for each in answers if each[0] != 201} <= CLEAR_ERRORS
    assert len(made) > KILLS // 2
    assert crashes == []
    assert len(folders) == len(made) + KILLS + 1
    assert [path for path in work.rglob("*") if path.is_file()] == []
    assert not any(is_running(each) for each in {*seen, *kept})


def _files(folder: Path) -> list[str]:
    return [str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()]
