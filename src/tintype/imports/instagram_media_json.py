"""Reads `media.json`, the only list in Instagram's archives until 2020.

It has no posts, only pictures: those of one post have the same caption and the same second.
"""

from collections.abc import Iterator
from typing import Any

from tintype.imports.archive_files import ArchiveFile, ArchiveFiles
from tintype.imports.errors import FileUnreadable
from tintype.imports.json_files import as_list, entries, read_object
from tintype.imports.models import Item, ItemKind, ItemMedia
from tintype.imports.reasons import ENTRY_EMPTY, FILE_MISSING, IN_MESSAGE, PROFILE_PICTURE, SkippedItem, skip
from tintype.imports.text import as_text
from tintype.imports.times import read_iso, read_timestamp

LEFT_OUT = {
    "profile": PROFILE_PICTURE,
    "direct": IN_MESSAGE,
}


def read_media_json(files: ArchiveFiles, file: ArchiveFile) -> Iterator[Item | SkippedItem]:
    """Posts of one or several pictures, and stories."""
    try:
        lists = read_object(file)
    except FileUnreadable as error:
        yield skip(file.name, error)
        return
    posts: dict[tuple[str, str, str], list[tuple[str, dict[str, Any]]]] = {}
    for kind, raw in lists.items():
        for number, entry in entries(as_list(raw)):
            name = f"{file.name} {kind} no. {number}"
            path = as_text((entry or {}).get("path"))
            if entry is None or not path:
                yield skip(name, ENTRY_EMPTY)
            elif kind in LEFT_OUT:
                yield skip(f"{name}: {path}", LEFT_OUT[kind])
            else:
                is_story = "story" if kind == "stories" else "post"
                key = (is_story, str(entry.get("taken_at")), as_text(entry.get("caption")))
                unique = key if is_story == "post" else (*key[:2], f"{key[2]}\0{number}")
                posts.setdefault(unique, []).append((name, entry))
    for (kind, _, _), pictures in posts.items():
        yield from _read_post(files, pictures, "story" if kind == "story" else "post")


def _read_post(
    files: ArchiveFiles, pictures: list[tuple[str, dict[str, Any]]], kind: ItemKind
) -> Iterator[Item | SkippedItem]:
    media: list[ItemMedia] = []
    for name, entry in pictures:
        found = files.find(as_text(entry.get("path")))
        if found is None:
            yield skip(f"{name}: {as_text(entry.get('path'))}", FILE_MISSING)
        else:
            media.append(ItemMedia(found))
    if media:
        name, first = pictures[0]
        yield Item(
            kind=kind,
            name=name,
            source_id="",
            posted_at=read_iso(first.get("taken_at")) or read_timestamp(first.get("taken_at")),
            caption=as_text(first.get("caption")),
            media=tuple(media),
            is_archived=kind == "story",
        )
