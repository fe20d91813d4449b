"""Turns items into the posts they become: with a key each, at most as many media as a post may have, and cut texts."""

import hashlib
from collections.abc import Iterable, Iterator

import msgspec

from tintype.imports.errors import FileUnreadable
from tintype.imports.models import ArchiveContents, Item, ItemMedia
from tintype.imports.reasons import STORY_UNWANTED, alt_text_cut, caption_cut, same_as, split
from tintype.imports.report import ImportReport
from tintype.imports.text import cut
from tintype.posts import MAX_ALT_TEXT_LENGTH, MAX_CAPTION_LENGTH, MAX_MEDIA


class PlannedPost(msgspec.Struct, frozen=True):
    """A post to be made: an item, or a part of one that has too many pictures for a post."""

    key: str
    """The same for the same item, whenever and from whichever copy of the archive it is imported."""
    item: Item
    name: str
    caption: str
    media: tuple[ItemMedia, ...]


def plan_posts(contents: ArchiveContents, report: ImportReport, *, with_stories: bool) -> list[PlannedPost]:
    """The posts to be made, in order; what becomes none is named in the report. Reads files: run it in a thread."""
    planned: dict[str, PlannedPost] = {}
    for item in contents.items:
        if item.kind == "story" and not with_stories:
            report.skip(item.name, STORY_UNWANTED)
            continue
        try:
            key = _key(contents.source, item)
        except FileUnreadable as error:
            report.skip(item.name, error)
            continue
        for post in _split(key, item, report):
            earlier = planned.setdefault(post.key, post)
            if earlier is not post:
                report.skip(post.name, same_as(earlier.name))
    return list(planned.values())


def _key(source: str, item: Item) -> str:
    """By the name it has at its source, else by its time and the contents of its files.

    A photo of a folder is the same whatever time its sidecar gives it.
    """
    parts: Iterable[str] = [item.source_id]
    if not item.source_id:
        time = "" if item.kind == "photo" or item.posted_at is None else str(int(item.posted_at.timestamp()))
        parts = [time, *(each.file.fingerprint() for each in item.media)]
    return f"{source}:{hashlib.sha256('|'.join(parts).encode()).hexdigest()[:40]}"


def _split(key: str, item: Item, report: ImportReport) -> Iterator[PlannedPost]:
    """The parts in the order in which they are published: the last first, so that the first is on top of the others."""
    if len(item.caption) > MAX_CAPTION_LENGTH:
        report.note(item.name, caption_cut(MAX_CAPTION_LENGTH))
    media = tuple(_fit(each, item, report) for each in item.media)
    parts = [media[at : at + MAX_MEDIA] for at in range(0, len(media), MAX_MEDIA)]
    if len(parts) > 1:
        report.note(item.name, split(len(media), len(parts)))
    for number, part in reversed(list(enumerate(parts, start=1))):
        is_first = number == 1
        yield PlannedPost(
            key if is_first else f"{key}:{number}",
            item,
            item.name if is_first else f"{item.name}, part {number}",
            cut(item.caption, MAX_CAPTION_LENGTH) if is_first else "",
            part,
        )


def _fit(media: ItemMedia, item: Item, report: ImportReport) -> ItemMedia:
    if len(media.alt_text) <= MAX_ALT_TEXT_LENGTH:
        return media
    report.note(f"{item.name}: {media.file.name}", alt_text_cut(MAX_ALT_TEXT_LENGTH))
    return ItemMedia(media.file, cut(media.alt_text, MAX_ALT_TEXT_LENGTH))
