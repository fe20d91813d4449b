"""A worker is killed in the middle of an import in the app; another one continues it."""

import asyncio
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from tests.imports.archives import at, media, picture
from tests.imports.member_imports import NEW, instagram, report, show, upload_and_start, wait_for_end
from tests.posts.people import id_of
from tests.support import Person, eventually
from tintype.imports.dependencies import FOLDER
from tintype.wiring import Rooms

CHECKOUT = Path(__file__).resolve().parents[2]
WORKER = """
import asyncio, pickle, sys
from tintype.wiring import open_rooms
from tintype.worker import Worker, consumer

consumer.ACK_WAIT_S, consumer.HEARTBEAT_S = 3, 1

async def main():
    settings = pickle.load(sys.stdin.buffer)
    async with open_rooms(settings, process="worker") as rooms:
        handlers = rooms.imports.handlers()
        await Worker(settings, rooms.shards, rooms.nats, handlers=handlers, schedules=[]).run()

asyncio.run(main())
"""


def start_worker(rooms: Rooms) -> subprocess.Popen[bytes]:
    worker = subprocess.Popen([sys.executable, "-c", WORKER], stdin=subprocess.PIPE, cwd=CHECKOUT)
    assert worker.stdin is not None
    pickle.dump(rooms.settings, worker.stdin)
    worker.stdin.close()
    return worker


@pytest.mark.slow
async def test_a_worker_is_killed_midway_and_the_next_one_continues(
    rooms: Rooms, clean_streams: None, ana: Person, tmp_path: Path
) -> None:
    count = 14
    damaged = {
        f"{NEW}/posts_2.json": [
            {
                "media": [media("media/posts/a.jpg"), media("media/posts/b.jpg")],
                "creation_timestamp": at(2019),
            }
        ],
        "media/posts/a.jpg": picture(60),
        "media/posts/b.jpg": b"GIF89a",
        "media/posts/stray.jpg": picture(51),
    }
    import_id = await upload_and_start(ana, instagram(tmp_path / "a.zip", count, damaged))
    work = rooms.settings.home / "imports"

    async def has_begun() -> bool:
        return (await show(ana, import_id))["imported"] >= 2

    killed = await asyncio.to_thread(start_worker, rooms)
    try:
        await eventually(has_begun, what="some posts are imported", patience_s=60)
    finally:
        killed.kill()
        killed.wait()
    between = await show(ana, import_id)
    left_behind = list(work.iterdir())
    follower = await asyncio.to_thread(start_worker, rooms)
    try:
        ended = await wait_for_end(ana, import_id)

        async def is_gone() -> bool:
            return not [each async for each in rooms.media.storage.list_objects(f"{FOLDER}/{ana.account_id}")]

        await eventually(is_gone, what="the archives are deleted")
    finally:
        follower.kill()
        follower.wait()

    assert (between["state"], between["imported"] < count + 1) == ("running", True)
    assert len(left_behind) == 1
    assert list(work.iterdir()) == []
    assert ended["state"] == "done"
    assert (ended["imported"], ended["already_imported"], ended["done"]) == (count + 1, 0, count + 1)
    assert sorted((each["name"], each["code"]) for each in await report(ana, import_id)) == [
        ("media/posts/stray.jpg", "unnamed"),
        (f"{NEW}/posts_2.json no. 1: media/posts/b.jpg", "media_unsupported"),
    ]
    assert (await rooms.accounts.get(id_of(ana))).post_count == count + 1
