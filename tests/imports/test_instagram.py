"""Instagram's archives in every layout it has had, with the faults of real ones."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.imports.archives import Content, at, broken, media, picture, write_folder, write_zip
from tintype.imports import ArchiveContents, ArchiveFiles, ArchiveInvalid, ArchiveIsHtml, read_instagram

NEW = "your_instagram_activity/media"


def read(*paths: Path) -> ArchiveContents:
    with ArchiveFiles(paths) as files:
        return read_instagram(files)


def reasons(contents: ArchiveContents) -> dict[str, str]:
    return {each.name: each.reason for each in contents.skipped}


def test_the_caption_and_the_time_stand_inside_for_one_picture_and_outside_for_several(
    tmp_path: Path,
) -> None:
    archive = write_zip(
        tmp_path / "a.zip",
        {
            f"{NEW}/posts_1.json": [
                {"media": [media("media/posts/202104/1.jpg", at(2021, 4, 2), broken("Frühling 🌷 #Küste"))]},
                {
                    "media": [media("media/posts/202104/2.jpg", 1), media("media/posts/202104/3.jpg", 2)],
                    "title": "Two of them",
                    "creation_timestamp": at(2021, 4, 1),
                },
            ],
            **{f"media/posts/202104/{number}.jpg": picture(number) for number in (1, 2, 3)},
        },
    )

    contents = read(archive)

    assert [(each.caption, each.posted_at, len(each.media)) for each in contents.items] == [
        ("Two of them", datetime(2021, 4, 1, tzinfo=UTC), 2),
        ("Frühling 🌷 #Küste", datetime(2021, 4, 2, tzinfo=UTC), 1),
    ]
    assert contents.skipped == []


@pytest.mark.parametrize(
    "folder", [NEW, "your_instagram_activity/content", "content", f"instagram-ana-2024/{NEW}"]
)
def test_every_kind_is_read_from_every_folder_there_has_been(tmp_path: Path, folder: str) -> None:
    one = [media("media/x/1.jpg", at(2020, 5))]
    archive = write_zip(
        tmp_path / "a.zip",
        {
            f"{folder}/posts_1.json": {"media": one, "title": None},  # a single post is no list
            f"{folder}/posts_2.json": [{"media": [[media("media/x/2.mp4", at(2020, 6))]]}],
            f"{folder}/reels.json": {"ig_reels_media": [{"media": [media("media/x/3.mp4", at(2020, 7))]}]},
            f"{folder}/stories.json": {"ig_stories": [media("media/x/4.jpg", at(2020, 8))]},
            f"{folder}/archived_posts.json": {
                "ig_archived_post_media": [{"media": [media("media/x/5.jpg", at(2020, 9))]}]
            },
            f"{folder}/recently_deleted_content.json": {
                "ig_recently_deleted_media": [{"media": [media("media/x/6.jpg", at(2020, 9))]}]
            },
            f"{folder}/profile_photos.json": {"ig_profile_picture": [media("media/profile/7.jpg", 3)]},
            **{f"media/x/{number}.jpg": picture(number) for number in (1, 4, 5, 6)},
            **{f"media/x/{number}.mp4": b"video" for number in (2, 3)},
            "media/profile/7.jpg": picture(7),
        },
    )

    contents = read(archive)

    assert [(each.kind, each.is_archived) for each in contents.items] == [
        ("post", False),
        ("post", False),
        ("reel", False),
        ("story", True),
        ("archived post", True),
    ]
    assert sorted(reasons(contents).values()) == [
        "It was a profile picture, not a post.",
        "You had deleted it.",
    ]


def test_pictures_of_media_json_with_one_caption_and_second_are_one_post(tmp_path: Path) -> None:
    def entry(path: str, taken: str, caption: str | None) -> dict[str, str | None]:
        return {"path": path, "taken_at": taken, "caption": caption}

    archive = write_zip(
        tmp_path / "old.zip",
        {
            "media.json": {
                "photos": [
                    entry("photos/201901/a.jpg", "2019-01-02T03:04:05", "Two"),
                    entry("photos/201901/b.jpg", "2019-01-02T03:04:05", "Two"),
                    entry("photos/201901/c.jpg", "2019-01-01T00:00:00+00:00", None),
                ],
                "stories": [entry("stories/201901/d.jpg", "2019-01-03T00:00:00", "")],
                "profile": [entry("profile/201901/e.jpg", "2019-01-03T00:00:00", "")],
                "direct": [entry("direct/201901/f.jpg", "2019-01-03T00:00:00", "")],
            },
            **{
                f"{folder}/201901/{name}.jpg": picture(number)
                for number, (folder, name) in enumerate(
                    [("photos", "a"), ("photos", "b"), ("photos", "c"), ("stories", "d"), ("direct", "f")]
                )
            },
        },
    )

    contents = read(archive)

    assert [(each.caption, len(each.media), each.kind) for each in contents.items] == [
        ("", 1, "post"),
        ("Two", 2, "post"),
        ("", 1, "story"),
    ]
    assert contents.items[1].posted_at == datetime(2019, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert len(contents.skipped) == 2


def test_several_zips_are_one_archive_whatever_folder_is_around_them(tmp_path: Path) -> None:
    lists = write_zip(
        tmp_path / "part1.zip",
        {
            f"ana_part_1/{NEW}/posts_1.json": [{"media": [media("media/posts/202001/1.jpg", at(2020))]}],
            "ana_part_1/media/posts/202001/unnamed.jpg": picture(3),
        },
    )
    pictures = write_zip(tmp_path / "part2.zip", {"ana_part_2/media/posts/202001/1.jpg": picture(1)})

    contents = read(lists, pictures)

    assert [each.media[0].file.archive for each in contents.items] == ["part2.zip"]
    assert reasons(contents) == {
        "ana_part_1/media/posts/202001/unnamed.jpg": "No post of the archive names it."
    }


def test_everything_that_cannot_be_imported_is_named_and_the_rest_is_imported(tmp_path: Path) -> None:
    archive = write_folder(
        tmp_path / "unpacked",
        {
            f"{NEW}/posts_1.json": [
                {"media": [media("media/posts/1.jpg", at(2020)), media("media/posts/gone.jpg", at(2020))]},
                {"media": [], "title": "Nothing"},
                "not an object",
                {"media": [media("../../../etc/passwd", at(2020))]},
            ],
            f"{NEW}/posts_2.json": b"[{",
            f"{NEW}/reels.json": {},
            "your_instagram_activity/messages/inbox/bo/photos/2.jpg": picture(2),
            "your_instagram_activity/likes/liked_posts.json": {},
            "media/posts/1.jpg": picture(1),
        },
    )

    contents = read(archive)

    assert [len(each.media) for each in contents.items] == [1]
    named = reasons(contents)
    assert named[f"{NEW}/posts_1.json no. 1: media/posts/gone.jpg"] == "The file is not in the archive."
    assert named[f"{NEW}/posts_1.json no. 2"] == "The entry names no photo or video."
    assert named[f"{NEW}/posts_1.json no. 3"] == "The entry is not one that this version knows."
    assert named[f"{NEW}/posts_1.json no. 4: ../../../etc/passwd"] == "The file is not in the archive."
    assert "JSON" in named[f"{NEW}/posts_2.json"]
    assert "message" in named["your_instagram_activity/messages/inbox/bo/photos/2.jpg"]
    assert "your_instagram_activity/likes/liked_posts.json" in named
    assert len(named) == 7


def test_posts_of_one_second_keep_their_order(tmp_path: Path) -> None:
    """Instagram lists the newest first; of two with the same time, the one that comes later here is shown first."""
    entries = [{"media": [media(f"media/posts/{n}.jpg", at(2020), str(n))]} for n in range(5)]
    archive = write_zip(
        tmp_path / "a.zip",
        {
            f"{NEW}/posts_1.json": entries,
            **{f"media/posts/{number}.jpg": picture(number) for number in range(5)},
        },
    )

    assert [each.caption for each in read(archive).items] == ["4", "3", "2", "1", "0"]


@pytest.mark.parametrize(
    ("files", "following", "followers"),
    [
        (
            {
                "connections/followers_and_following/following.json": {
                    "relationships_following": [
                        {"title": "bo", "string_list_data": [{"href": "https://www.instagram.com/_u/bo"}]}
                    ]
                },
                "connections/followers_and_following/followers_1.json": [
                    {"title": "", "string_list_data": [{"value": "Cy", "href": "", "timestamp": 1}]}
                ],
            },
            ("bo",),
            ("cy",),
        ),
        ({"connections.json": {"following": {"bo": "2019"}, "followers": {"cy": "2018"}}}, ("bo",), ("cy",)),
        ({"followers_and_following/followers.json": b"{"}, (), ()),
    ],
)
def test_people_are_read_in_every_layout(
    tmp_path: Path, files: dict[str, Content], following: tuple[str, ...], followers: tuple[str, ...]
) -> None:
    archive = write_zip(tmp_path / "a.zip", {**files, "content/posts_1.json": []})

    contents = read(archive)

    assert (contents.following, contents.followers) == (following, followers)


def test_an_archive_of_web_pages_is_recognised_and_explained(tmp_path: Path) -> None:
    archive = write_zip(tmp_path / "a.zip", {"start_here.html": "<html>", f"{NEW}/posts_1.html": "<html>"})

    with pytest.raises(ArchiveIsHtml, match="in the format JSON"):
        read(archive)


def test_an_archive_of_something_else_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ArchiveInvalid, match=r"posts_1\.json"):
        read(write_zip(tmp_path / "a.zip", {"readme.txt": "Hello"}))
