"""Mastodon's archives and Pixelfed's exports."""

import tarfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.imports.archives import ACTOR, PUBLIC, note, picture, write_folder, write_zip
from tintype.imports import ArchiveContents, ArchiveFiles, read_mastodon, read_pixelfed

FILE = "media_attachments/files/109/original/one.png"
DOCUMENT = {"type": "Document", "mediaType": "image/png", "url": f"/{FILE}", "name": "A boat"}


def outbox(*activities: Any) -> dict[str, Any]:
    return {"@context": "", "type": "OrderedCollection", "orderedItems": list(activities)}


def mastodon(path: Path) -> ArchiveContents:
    with ArchiveFiles([path]) as files:
        return read_mastodon(files)


def test_a_mastodon_archive_gives_posts_with_alt_texts_and_plain_captions(tmp_path: Path) -> None:
    html = '<p>Out at <a href="https://x.example/tags/sea">#<span>sea</span></a> &amp; back<br>again</p><p>Bye</p>'
    archive = write_zip(
        tmp_path / "a.zip",
        {
            "outbox.json": outbox(note(2, attachments=[DOCUMENT], content=html, summary="Water")),
            FILE: picture(1, "PNG"),
            "avatar.png": picture(2, "PNG"),
        },
    )

    contents = mastodon(archive)

    (item,) = contents.items
    assert item.caption == "Water\n\nOut at #sea & back\nagain\n\nBye"
    assert item.media[0].alt_text == "A boat"
    assert item.posted_at == datetime(2022, 3, 2, 10, tzinfo=UTC)
    assert item.source_id == f"{ACTOR}/statuses/2"
    assert [each.name for each in contents.skipped] == ["avatar.png"]


def test_what_was_not_public_never_becomes_public(tmp_path: Path) -> None:
    archive = write_zip(
        tmp_path / "a.zip",
        {
            "outbox.json": outbox(
                note(1, attachments=[DOCUMENT], to=[f"{ACTOR}/followers"], cc=[]),
                note(2, attachments=[DOCUMENT], to=["https://x.example/users/bo"], cc=[]),
                note(3, attachments=[DOCUMENT], to=[f"{ACTOR}/followers"], cc=[PUBLIC]),
                note(4, attachments=[DOCUMENT], to=[], cc=[]),
            ),
            FILE: picture(1, "PNG"),
        },
    )

    contents = mastodon(archive)

    assert [(each.source_id[-1], each.is_archived) for each in contents.items] == [
        ("1", True),
        ("3", False),
        ("4", True),
    ]
    assert [each.reason for each in contents.skipped] == ["It was a direct message."]


def test_boosts_replies_and_posts_without_pictures_are_named(tmp_path: Path) -> None:
    archive = write_zip(
        tmp_path / "a.zip",
        {
            "outbox.json": outbox(
                {"type": "Announce", "object": "https://x.example/1"},
                note(1, attachments=[DOCUMENT], inReplyTo="https://x.example/users/bo/statuses/9"),
                note(2, attachments=[DOCUMENT], inReplyTo=f"{ACTOR}/statuses/1"),
                note(3, attachments=[]),
                note(4, attachments=[{**DOCUMENT, "url": "/media_attachments/gone.png"}]),
                7,
            ),
            FILE: picture(1, "PNG"),
        },
    )

    contents = mastodon(archive)

    assert [each.source_id[-1] for each in contents.items] == ["2"]
    assert [each.reason.split(".")[0] for each in contents.skipped] == [
        "It is somebody else's post that you boosted",
        "It is a reply to somebody else's post",
        "It has no photo or video",
        "The file is not in the archive",
        "The entry is not one that this version knows",
    ]


def test_a_tar_file_is_read_and_its_names_are_harmless(tmp_path: Path) -> None:
    folder = write_folder(
        tmp_path / "a", {"outbox.json": outbox(note(1, attachments=[DOCUMENT])), FILE: picture(1, "PNG")}
    )
    (folder / "link").symlink_to("/etc/passwd")
    archive = tmp_path / "a.tar.gz"
    with tarfile.open(archive, "w:gz") as packed:
        packed.add(folder / "outbox.json", "../../outbox.json")
        packed.add(folder / FILE, FILE)
        packed.add(folder / "link", "link")

    with ArchiveFiles([archive]) as files:
        contents = read_mastodon(files)
        content = contents.items[0].media[0].file.read(10**6)

    assert content == picture(1, "PNG")
    assert [(each.name, each.reason) for each in contents.skipped] == [
        ("link", "It is a link or a special file.")
    ]
    assert not (tmp_path.parent / "outbox.json").exists()


def test_pixelfed_statuses_find_their_pictures_beside_the_list_or_at_a_host_that_was_named(
    tmp_path: Path,
) -> None:
    image = {"type": "Image", "mediaType": "image/jpeg", "url": "https://pics.example/storage/m/1.jpg"}
    elsewhere = {**image, "url": "https://other.example/storage/m/2.jpg"}
    status = {
        "id": "55",
        "uri": "https://pics.example/p/ana/55",
        "created_at": "2021-05-06T07:08:09.000000Z",
        "content": "From the API",
        "visibility": "public",
        "media_attachments": [{"url": "https://pics.example/storage/m/3.jpg", "description": "Three"}],
    }
    folder = write_folder(
        tmp_path / "export",
        {
            "outbox.json": {
                "data": [note(1, attachments=[image])["object"], note(2, attachments=[elsewhere])["object"]]
            },
            "api-statuses.json": [status],
            "pictures/1.jpg": picture(1),
        },
    )

    with ArchiveFiles([folder]) as files:
        contents = read_pixelfed(files, download_from=frozenset({"pics.example"}))

    assert [(each.caption, each.media[0].file.name) for each in contents.items] == [
        ("From the API", "https://pics.example/storage/m/3.jpg"),
        ("", "pictures/1.jpg"),
    ]
    assert contents.items[0].media[0].alt_text == "Three"
    assert ["other.example" in each.name for each in contents.skipped] == [True]
