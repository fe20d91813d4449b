"""Reads what Mastodon and Pixelfed give: an outbox of ActivityPub, and media beside it.

Mastodon's archive is a zip or tar file with `outbox.json` and `media_attachments/`. Pixelfed gives `outbox.json` or
`api-statuses.json` without any media: put those beside it, under the names that they have in their addresses.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit

from tintype.imports.archive_files import ArchiveFile, ArchiveFiles
from tintype.imports.downloads import find_download
from tintype.imports.errors import ArchiveInvalid, FileUnreadable
from tintype.imports.json_files import as_list, as_object, as_values, entries, read_list, read_object
from tintype.imports.models import ArchiveContents, Item, ItemMedia
from tintype.imports.reasons import (
    BOOST,
    DIRECT_MESSAGE,
    ENTRY_UNKNOWN,
    FILE_NOT_BESIDE,
    NO_MEDIA,
    NO_POST,
    REPLY,
    SkippedItem,
    skip,
)
from tintype.imports.text import html_to_text
from tintype.imports.times import read_iso
from tintype.imports.unused_files import list_unused

PUBLIC = frozenset({"https://www.w3.org/ns/activitystreams#Public", "as:Public", "Public"})
_OUTBOX = re.compile(r"(?:^|/)outbox(?:[-_]?\d+)?\.json$")
_PIXELFED = re.compile(r"(?:^|/)(?:outbox|api-statuses|statuses|pixelfed-statuses)[^/]*\.json$")


@dataclass(frozen=True)
class _Media:
    """Where pictures are looked for: in the archive, and then at these hosts."""

    files: ArchiveFiles
    hosts: frozenset[str]

    def find(self, address: str) -> ArchiveFile | None:
        """The picture at an address, or with the path or the name of one."""
        path = unquote(urlsplit(address).path)
        found = self.files.find(path) or self.files.find_by_base_name(path.rpartition("/")[2])
        return found or find_download(address, self.hosts)


def read_mastodon(files: ArchiveFiles) -> ArchiveContents:
    """Every post with a picture of a Mastodon archive, the oldest first."""
    lists = [each for each in files.all if _OUTBOX.search(each.name)]
    if not lists:
        raise ArchiveInvalid("There is no outbox.json in this archive: it is not one of Mastodon's.")
    return _read("mastodon", files, lists, frozenset())


def read_pixelfed(files: ArchiveFiles, *, download_from: frozenset[str] = frozenset()) -> ArchiveContents:
    """Every post of a Pixelfed export whose media lie beside it or at one of these hosts, the oldest first."""
    lists = [each for each in files.all if _PIXELFED.search(each.name)]
    if not lists:
        raise ArchiveInvalid(
            "There is neither an outbox.json nor an api-statuses.json: export your statuses at Pixelfed, under "
            "Settings, Data Export."
        )
    return _read("pixelfed", files, lists, download_from)


def _read(
    source: str, files: ArchiveFiles, lists: list[ArchiveFile], hosts: frozenset[str]
) -> ArchiveContents:
    items: list[Item] = []
    skipped = [skip(name, reason) for name, reason in files.left_out]
    for file in lists:
        try:
            found = _activities(file)
        except FileUnreadable as error:
            skipped.append(skip(file.name, error))
            continue
        for number, entry in entries(found):
            for each in _read_activity(_Media(files, hosts), entry, f"{file.name} no. {number}"):
                if isinstance(each, Item):
                    items.append(each)
                else:
                    skipped.append(each)
    skipped += list_unused(files, items, skipped, known={each.name for each in lists})
    undated = [each for each in items if each.posted_at is None]
    dated = [(each.posted_at, each) for each in items if each.posted_at is not None]
    in_order = [each for _, each in sorted(dated, key=lambda pair: pair[0])]
    return ArchiveContents(source, [*in_order, *undated], skipped)


def _activities(file: ArchiveFile) -> list[Any]:
    """The activities of an outbox, or the statuses of a list."""
    try:
        fields = read_object(file)
    except FileUnreadable:
        return list(read_list(file))
    for name in ("orderedItems", "data", "items"):
        if name in fields:
            return list(as_list(fields[name]))
    return list(read_list(file))


def _read_activity(files: _Media, entry: dict[str, Any] | None, name: str) -> Iterator[Item | SkippedItem]:
    """The item of an activity that made a note, or of a note by itself."""
    if entry is None:
        yield skip(name, ENTRY_UNKNOWN)
        return
    note = as_object(entry.get("object")) if entry.get("type") == "Create" else entry
    if entry.get("type") == "Announce":
        yield skip(name, BOOST)
    elif not note:
        yield skip(name, NO_POST)
    else:
        shown = str(note.get("url") or note.get("uri") or note.get("id") or name)
        yield from _read_note(files, entry, note, f"{name} ({shown})")


def _read_note(
    files: _Media, activity: dict[str, Any], note: dict[str, Any], name: str
) -> Iterator[Item | SkippedItem]:
    listed = as_values(note.get("attachment")) or as_values(note.get("media_attachments"))
    attachments = [found for each in listed if (found := as_object(each))]
    audience = _audience(note)
    refusal = None
    if audience == "direct":
        refusal = DIRECT_MESSAGE
    elif _is_reply_to_others(activity, note):
        refusal = REPLY
    elif not attachments:
        refusal = NO_MEDIA
    if refusal:
        yield skip(name, refusal)
        return
    media: list[ItemMedia] = []
    for each in attachments:
        address = str(each.get("url") or each.get("remote_url") or "")
        file = files.find(address)
        if file is None:
            yield skip(f"{name}: {address}", FILE_NOT_BESIDE)
        else:
            media.append(ItemMedia(file, _alt_text(each)))
    if media:
        yield Item(
            kind="post" if audience == "public" else "archived post",
            name=name,
            source_id=str(note.get("id") or note.get("uri") or note.get("url") or ""),
            posted_at=read_iso(note.get("published") or note.get("created_at") or activity.get("published")),
            caption=_caption(note),
            media=tuple(media),
            is_archived=audience != "public",
        )


def _audience(note: dict[str, Any]) -> str:
    """`public`, also where it was unlisted; `followers`; or `direct`."""
    visibility = note.get("visibility") or note.get("scope")
    if isinstance(visibility, str):
        return {"public": "public", "unlisted": "public", "direct": "direct"}.get(visibility, "followers")
    named = [note.get("to"), note.get("cc")]
    receivers = {each for value in named for each in (*as_values(value), value) if isinstance(each, str)}
    if receivers & PUBLIC or not receivers:
        return "public" if receivers else "followers"
    return "followers" if any(each.rstrip("/").endswith("/followers") for each in receivers) else "direct"


def _is_reply_to_others(activity: dict[str, Any], note: dict[str, Any]) -> bool:
    """Whether it answers somebody else; what continues an own post is a post."""
    target = note.get("inReplyTo") or note.get("in_reply_to_id")
    if not target:
        return False
    own = str(note.get("attributedTo") or activity.get("actor") or "")
    author = as_object(note.get("account")).get("id")
    if author is not None and note.get("in_reply_to_account_id") == author:
        return False
    return not own or not str(target).startswith(own.rstrip("/") + "/")


def _alt_text(attachment: dict[str, Any]) -> str:
    value = attachment.get("name") or attachment.get("description") or attachment.get("summary")
    return value.strip() if isinstance(value, str) else ""


def _caption(note: dict[str, Any]) -> str:
    """The text, below its content warning if it has one."""
    content, warning = note.get("content"), note.get("summary") or note.get("spoiler_text")
    text = html_to_text(content) if isinstance(content, str) else ""
    title = html_to_text(warning) if isinstance(warning, str) else ""
    return f"{title}\n\n{text}".strip() if title and not text.startswith(title) else text
