"""Reads the archives that Instagram gives, in every layout it has had.

    your_instagram_activity/media/posts_1.json …    since 2023 (at first `…/content/`); files: `media/posts/YYYYMM/`
    content/posts_1.json …                          2021 and 2022
    media.json                                      before; files: `photos/YYYYMM/`, `videos/YYYYMM/`

A post with one picture has its caption, and its time, inside, at the picture; one with several has them outside. An
archive of web pages instead of JSON is refused with an explanation.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from tintype.imports.archive_files import ArchiveFile, ArchiveFiles
from tintype.imports.errors import ArchiveInvalid, ArchiveIsHtml, FileUnreadable
from tintype.imports.instagram_media_json import read_media_json
from tintype.imports.instagram_people import read_people
from tintype.imports.json_files import as_object, as_values, entries, read_list
from tintype.imports.models import ArchiveContents, Item, ItemKind, ItemMedia
from tintype.imports.reasons import (
    DELETED,
    ENTRY_EMPTY,
    ENTRY_UNKNOWN,
    FILE_MISSING,
    PROFILE_PICTURE,
    SkippedItem,
    skip,
)
from tintype.imports.text import as_text
from tintype.imports.times import read_timestamp
from tintype.imports.unused_files import list_unused

SOURCE = "instagram"
_LIST = re.compile(
    r"(?:^|/)(?:media|content)/"
    r"(posts|reels|stories|archived_posts|igtv_videos|other_content|recently_deleted_content|profile_photos)"
    r"(?:_\d+)?\.json$"
)
_MEDIA_JSON = re.compile(r"(?:^|/)media(?:_\d+)?\.json$")
_HTML = re.compile(r"(?:^|/)(?:index|start_here|posts_\d+|reels|stories)\.html$")
KINDS: Mapping[str, ItemKind] = {
    "posts": "post",
    "reels": "reel",
    "igtv_videos": "reel",
    "stories": "story",
    "archived_posts": "archived post",
    "other_content": "archived post",
}
LEFT_OUT = {
    "recently_deleted_content": DELETED,
    "profile_photos": PROFILE_PICTURE,
}


def read_instagram(files: ArchiveFiles) -> ArchiveContents:
    """Every post, reel, story and archived post of an archive, the oldest first."""
    lists = [(each, found[1]) for each in files.all if (found := _LIST.search(each.name))]
    old_lists = [each for each in files.all if not lists and _MEDIA_JSON.search(each.name)]
    if not lists and not old_lists:
        _explain_missing(files)
    items: list[Item] = []
    skipped = [skip(name, reason) for name, reason in files.left_out]
    for file, kind in lists:
        _collect(_read_list(files, file, kind), items, skipped)
    for file in old_lists:
        _collect(read_media_json(files, file), items, skipped)
    people, people_files = read_people(files)
    known = {*(file.name for file, _ in lists), *(file.name for file in old_lists), *people_files}
    skipped += list_unused(files, items, skipped, known=known)
    return ArchiveContents(SOURCE, _oldest_first(items), skipped, people.following, people.followers)


def _explain_missing(files: ArchiveFiles) -> None:
    if any(_HTML.search(each.name) for each in files.all):
        raise ArchiveIsHtml
    raise ArchiveInvalid(
        "There are no posts in this archive: neither your_instagram_activity/media/posts_1.json nor one of its earlier "
        "names. If Instagram gave you several files, name all of them."
    )


def _collect(found: Iterable[Item | SkippedItem], items: list[Item], skipped: list[SkippedItem]) -> None:
    for each in found:
        if isinstance(each, Item):
            items.append(each)
        else:
            skipped.append(each)


def _oldest_first(items: list[Item]) -> list[Item]:
    """In the order of their times; Instagram lists the newest first, so of equal times the later entry is the older."""
    undated = [each for each in items if each.posted_at is None]
    dated = [(each.posted_at, each) for each in reversed(items) if each.posted_at is not None]
    return [each for _, each in sorted(dated, key=lambda pair: pair[0])] + undated


def _read_list(files: ArchiveFiles, file: ArchiveFile, kind: str) -> Iterator[Item | SkippedItem]:
    try:
        found = read_list(file)
    except FileUnreadable as error:
        yield skip(file.name, error)
        return
    for number, entry in entries(found):
        name = f"{file.name} no. {number}"
        if entry is None:
            yield skip(name, ENTRY_UNKNOWN)
        elif kind in LEFT_OUT:
            yield skip(_name_of(name, entry), LEFT_OUT[kind])
        else:
            yield from read_entry(files, entry, name, KINDS[kind])


def read_entry(
    files: ArchiveFiles, entry: dict[str, Any], name: str, kind: ItemKind
) -> Iterator[Item | SkippedItem]:
    """The item of one entry, and each of its files that the archive does not have."""
    listed = list(_media_of(entry))
    media: list[ItemMedia] = []
    for each in listed:
        file = _find_file(files, each)
        if file is None:
            yield skip(f"{name}: {as_text(each.get('uri'))}", FILE_MISSING)
        else:
            media.append(ItemMedia(file))
    if not listed:
        yield skip(name, ENTRY_EMPTY)
    if not media:
        return
    yield Item(
        kind=kind,
        name=name,
        source_id="",
        posted_at=_time_of(entry, listed),
        caption=_caption_of(entry, listed),
        media=tuple(media),
        is_archived=kind in {"story", "archived post"},
    )


def _media_of(entry: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The pictures of an entry, which may be lists in a list; a story is its own picture."""
    if isinstance(entry.get("uri"), str):
        yield entry
        return
    waiting: list[Any] = [entry.get("media")]
    while waiting:
        each = waiting.pop(0)
        if isinstance(each, list):
            waiting[:0] = each
        elif isinstance(each, dict) and isinstance(each.get("uri"), str):
            yield each


def _find_file(files: ArchiveFiles, media: dict[str, Any]) -> ArchiveFile | None:
    uris = [media.get("uri"), as_text(media.get("uri")), media.get("backup_uri")]
    return next((found for uri in uris if isinstance(uri, str) and (found := files.find(uri))), None)


def _time_of(entry: dict[str, Any], media: list[dict[str, Any]]) -> datetime | None:
    """Outside where it stands there, else at the first picture that has one."""
    values = [entry.get("creation_timestamp"), entry.get("timestamp")]
    values += [each.get("creation_timestamp") for each in media]
    return next((found for value in values if (found := read_timestamp(value))), None)


def _caption_of(entry: dict[str, Any], media: list[dict[str, Any]]) -> str:
    """Outside, else inside: of several pictures, only one that all with a caption share is the post's."""
    outside = as_text(entry.get("title")) or _labelled_caption(entry)
    if outside or not media:
        return outside
    inside = dict.fromkeys(filter(None, (as_text(each.get("title")) for each in media)))
    return next(iter(inside)) if len(inside) == 1 else "\n\n".join(inside)


def _labelled_caption(entry: dict[str, Any]) -> str:
    for each in map(as_object, as_values(entry.get("label_values"))):
        if each.get("label") in {"Caption", "Title"}:
            return as_text(each.get("value"))
    return ""


def _name_of(name: str, entry: dict[str, Any]) -> str:
    uris = [as_text(each.get("uri")) for each in _media_of(entry)]
    return f"{name}: {', '.join(uris)}" if uris else name
