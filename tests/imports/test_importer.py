"""Imports into real accounts: photos through the pipeline, a report that names everything, and killed runs."""

import asyncio
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.imports.archives import at, broken, heic, media, note, picture, write_folder, write_zip
from tests.media.videos.sample_videos import make_clip
from tests.posts.people import id_of
from tests.support import Person, eventually
from tests.web_process import environment_of
from tintype.base.ids import AccountId
from tintype.imports import (
    ArchiveContents,
    ArchiveFiles,
    Importer,
    ImportOptions,
    ImportReport,
    read_folder,
    read_instagram,
    read_mastodon,
)
from tintype.media import StorageFull
from tintype.wiring import Rooms

NEW = "your_instagram_activity/media"
pytestmark = pytest.mark.slow


async def unwatched(_report: ImportReport) -> None:
    """Nobody looks at the progress."""


async def bring(
    rooms: Rooms, person: Person, path: Path, read: Any = read_instagram, **options: Any
) -> ImportReport:
    importer = Importer(rooms.accounts, rooms.visibility, media=rooms.media, posts=rooms.posts)
    with ArchiveFiles([path]) as files:
        contents: ArchiveContents = read(files)
        return await importer.run(id_of(person), contents, ImportOptions(**options), unwatched)


async def wall(person: Person) -> list[dict[str, Any]]:
    answer = await person.call("GET", f"/accounts/{person.account_id}/posts", params={"limit": 50})
    return answer.json()["posts"]


async def test_an_instagram_archive_becomes_a_wall(rooms: Rooms, ana: Person, tmp_path: Path) -> None:
    archive = write_zip(
        tmp_path / "a.zip",
        {
            f"{NEW}/posts_1.json": [
                {"media": [media("media/posts/1", at(2021, 4), broken("Frühling #Küste @bo 🌷"))]},
                {
                    "media": [
                        media("media/posts/2.jpg"),
                        media("media/posts/3.heic"),
                        media("media/posts/4.jpg"),
                    ],
                    "title": None,
                    "creation_timestamp": at(2020),
                },
                {"media": [media("media/posts/5.jpg", at(2019))]},
            ],
            f"{NEW}/stories.json": {"ig_stories": [media("media/stories/6.jpg", at(2018))]},
            "media/posts/1": picture(1, "WEBP"),
            "media/posts/2.jpg": picture(2, "PNG"),
            "media/posts/3.heic": heic(3),
            "media/posts/4.jpg": b"GIF89a not a photo",
            "media/posts/5.jpg": b"",
            "media/stories/6.jpg": picture(6),
        },
    )

    report = await bring(rooms, ana, archive)
    again = await bring(rooms, ana, archive)

    assert (report.state, report.imported, report.media, report.already_imported) == ("done", 3, 4, 0)
    assert (again.imported, again.already_imported) == (0, 3)
    posts = await wall(ana)
    assert [(each["created_at"], each["caption"], len(each["media"])) for each in posts] == [
        ("2021-04-01T00:00:00Z", "Frühling #Küste @bo 🌷", 1),
        ("2020-01-01T00:00:00Z", "", 2),
    ]
    assert [(each["kind"], each["hashtag"]) for each in posts[0]["spans"]] == [("hashtag", "küste")]
    skipped = {each.name: each.reason for each in report.skipped}
    assert "not supported" in skipped[f"{NEW}/posts_1.json no. 2: media/posts/4.jpg"]
    assert "empty" in skipped[f"{NEW}/posts_1.json no. 3: media/posts/5.jpg"]
    assert len(skipped) == 2
    archived = (await ana.call("GET", "/accounts/me/archive")).json()["posts"]
    assert [each["created_at"] for each in archived] == ["2018-01-01T00:00:00Z"]


async def test_a_dry_run_changes_nothing_and_tells_the_same(
    rooms: Rooms, ana: Person, tmp_path: Path
) -> None:
    archive = write_zip(
        tmp_path / "a.zip",
        {
            f"{NEW}/posts_1.json": [
                {"media": [media("media/posts/1.jpg", at(2021))]},
                {"media": [media("media/posts/2.jpg", at(2020))]},
            ],
            f"{NEW}/stories.json": {"ig_stories": [media("media/posts/3.jpg", at(2018))]},
            "media/posts/1.jpg": picture(1),
            "media/posts/2.jpg": b"no photo",
            "media/posts/3.jpg": picture(3),
        },
    )

    report = await bring(rooms, ana, archive, is_dry_run=True, with_stories=False)

    assert (report.state, report.imported, report.media) == ("planned", 1, 1)
    assert [each.reason.split(".")[0] for each in report.skipped] == [
        "It is a story, and stories were not wanted",
        "That kind of file is not supported",
    ]
    assert await wall(ana) == []
    assert (await rooms.media.usage.get(id_of(ana))).used_bytes == 0


async def test_a_folder_is_dated_by_sidecar_camera_name_and_file(
    rooms: Rooms, ana: Person, tmp_path: Path
) -> None:
    folder = write_folder(
        tmp_path / "photos",
        {
            "camera.jpg": picture(1, "JPEG", "2012:03:04 05:06:07"),
            "IMG_20130101_101112.jpg": picture(2),
            "sidecar.jpg": picture(3, "JPEG", "2012:03:04 05:06:07"),
            "sidecar.jpg.json": {"photoTakenTime": {"timestamp": str(at(2014))}},
            "plain.jpg": picture(4),
            "copy of plain.jpg": picture(4),
            "notes.pdf": b"%PDF-1.7",
        },
    )
    os.utime(folder / "plain.jpg", (at(2011), at(2011)))
    os.utime(folder / "copy of plain.jpg", (at(2011), at(2011)))

    report = await bring(rooms, ana, folder, read_folder)
    again = await bring(rooms, ana, folder, read_folder)

    assert [each["created_at"][:19] for each in await wall(ana)] == [
        "2014-01-01T00:00:00",
        "2013-01-01T10:11:12",
        "2012-03-04T05:06:07",
        "2011-01-01T00:00:00",
    ]
    assert {each.name: each.reason.split(".")[0] for each in report.skipped} == {
        "plain.jpg": "It is the same as copy of plain",
        "notes.pdf": "That kind of file is not supported",
    }
    assert (again.imported, again.already_imported) == (0, 4)


async def test_a_post_with_too_many_pictures_becomes_several_with_the_first_on_top(
    rooms: Rooms, ana: Person, tmp_path: Path
) -> None:
    names = [f"media/posts/{number}.jpg" for number in range(12)]
    archive = write_zip(
        tmp_path / "a.zip",
        {
            f"{NEW}/posts_1.json": [
                {
                    "media": [media(each) for each in names],
                    "title": "x" * 2500,
                    "creation_timestamp": at(2020),
                }
            ],
            **dict.fromkeys(names[:11], picture(1)),
            names[11]: picture(2),
        },
    )

    report = await bring(rooms, ana, archive)

    posts = await wall(ana)
    assert [len(each["media"]) for each in posts] == [10, 2]
    assert [len(each["caption"]) for each in posts] == [2200, 0]
    assert [each.reason for each in report.notes] == [
        "Its caption was cut to 2200 characters.",
        "It has 12 pictures and became 2 posts.",
    ]


async def test_videos_are_imported_beyond_the_limits_of_a_day(
    rooms: Rooms, ana: Person, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clip = make_clip(tmp_path / "clip.mp4", seconds=1).read_bytes()
    archive = write_zip(
        tmp_path / "a.zip",
        {
            f"{NEW}/reels.json": {
                "ig_reels_media": [{"media": [media("media/reels/1.jpg", at(2022), "Moving")]}]
            },
            "media/reels/1.jpg": clip,
        },
    )
    monkeypatch.setattr(rooms.media.usage, "_max_waiting", 0)
    monkeypatch.setattr(rooms.media.usage, "_max_ms", 1)

    report = await bring(rooms, ana, archive)

    (post,) = await wall(ana)
    assert (report.imported, report.skipped) == (1, [])
    assert (post["media"][0]["type"], post["created_at"]) == ("video", "2022-01-01T00:00:00Z")


async def test_people_with_the_same_names_are_only_named(
    rooms: Rooms, ana: Person, bo: Person, tmp_path: Path
) -> None:
    archive = write_zip(
        tmp_path / "a.zip",
        {
            "content/posts_1.json": [],
            "followers_and_following/following.json": {
                "relationships_following": [
                    {"string_list_data": [{"value": "bo"}]},
                    {"string_list_data": [{"value": "stranger"}]},
                ]
            },
        },
    )

    report = await bring(rooms, ana, archive)

    assert (report.following_here, report.followers_here) == (["bo"], [])
    assert (await bo.call("GET", "/profiles/bo")).json()["follower_count"] == 0


async def test_a_full_storage_stops_the_import_and_names_what_was_not_reached(
    rooms: Rooms, ana: Person, tmp_path: Path
) -> None:
    folder = write_folder(tmp_path / "photos", {f"{number}.jpg": picture(number) for number in range(3)})
    await rooms.media.usage.set_quota(id_of(ana), 1)

    report = await bring(rooms, ana, folder, read_folder)
    await rooms.media.usage.set_quota(id_of(ana), None)
    resumed = await bring(rooms, ana, folder, read_folder)

    assert (report.state, report.imported) == ("stopped", 0)
    assert [each.name for each in report.skipped] == ["0.jpg", "1.jpg", "2.jpg"]
    assert report.stopped_because == str(StorageFull())
    assert (resumed.state, resumed.imported) == ("done", 3)


async def test_two_imports_at_once_make_each_post_once(rooms: Rooms, ana: Person, tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "photos", {f"{number}.jpg": picture(number) for number in range(4)})

    first, second = await asyncio.gather(
        bring(rooms, ana, folder, read_folder), bring(rooms, ana, folder, read_folder)
    )

    assert first.imported + second.imported == 4
    assert len(await wall(ana)) == 4


async def test_a_mastodon_archive_keeps_alt_texts_and_hides_what_only_followers_saw(
    rooms: Rooms, ana: Person, tmp_path: Path
) -> None:
    file = "media_attachments/files/1/original/a.png"
    document = {"type": "Document", "url": f"/{file}", "name": "A boat"}
    followers = {"to": ["https://photos.example/users/ana/followers"], "cc": []}
    archive = write_zip(
        tmp_path / "a.zip",
        {
            "outbox.json": {
                "orderedItems": [
                    note(1, attachments=[document], content="<p>Open</p>"),
                    note(2, attachments=[document], content="<p>Closed</p>", **followers),
                ]
            },
            file: picture(1, "PNG"),
        },
    )

    await bring(rooms, ana, archive, read_mastodon)

    (post,) = await wall(ana)
    assert (post["caption"], post["media"][0]["alt_text"]) == ("Open", "A boat")


async def test_the_command_is_killed_midway_and_finishes_when_repeated(
    rooms: Rooms, ana: Person, bo: Person, tmp_path: Path
) -> None:
    count = 12
    archive = write_zip(
        tmp_path / "a.zip",
        {
            f"{NEW}/posts_1.json": [
                {"media": [media(f"media/posts/{n}.jpg", at(2020, 1, 1 + n), str(n))]} for n in range(count)
            ],
            **{f"media/posts/{number}.jpg": picture(number) for number in range(count)},
            "media/posts/stray.jpg": picture(99),
        },
    )
    words = (
        "import",
        "instagram",
        str(archive),
        "--as",
        "@Ana",
        "--json",
        "--report",
        str(tmp_path / "report"),
    )
    killed = await start(rooms, *words)

    async def has_begun() -> bool:
        return len(await wall(ana)) >= 2

    await eventually(has_begun, what="some posts are imported")
    os.killpg(killed.pid, signal.SIGKILL)
    await killed.wait()
    between = len(await wall(ana))

    finished = await start(rooms, *words)
    printed, _ = await finished.communicate()

    report = json.loads(printed)
    posts = await wall(ana)
    assert finished.returncode == 0
    assert 2 <= between < count
    assert report["imported"] + report["already_imported"] == count
    assert [each["caption"] for each in posts] == [str(number) for number in reversed(range(count))]
    assert [each["name"] for each in report["skipped"]] == ["media/posts/stray.jpg"]
    assert json.loads((tmp_path / "report").read_bytes()) == report
    assert (await rooms.accounts.get(AccountId(id_of(ana)))).post_count == count
    assert bo.username == "bo"


async def start(rooms: Rooms, *words: str) -> asyncio.subprocess.Process:
    """Start a command in a process group of its own, on the engines of this test."""
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tintype", *words),
        env=environment_of(rooms.settings),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        start_new_session=True,
    )
