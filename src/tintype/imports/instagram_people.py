"""Reads whom somebody follows at Instagram and who follows them, in every layout it has had."""

import re
from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from tintype.imports.archive_files import ArchiveFile, ArchiveFiles
from tintype.imports.errors import FileUnreadable
from tintype.imports.json_files import as_object, as_values, entries, read_list, read_object
from tintype.imports.text import as_text

_LIST = re.compile(r"(?:^|/)followers_and_following/(followers|following)(?:_\d+)?\.json$")
_OLD = re.compile(r"(?:^|/)connections\.json$")


class People(NamedTuple):
    """Usernames, each once."""

    following: tuple[str, ...]
    followers: tuple[str, ...]


def read_people(files: ArchiveFiles) -> tuple[People, list[str]]:
    """People, and the names of the files they were read from; what cannot be read counts as not there."""
    found: dict[str, dict[str, None]] = {"following": {}, "followers": {}}
    read: list[str] = []
    for file in files.all:
        match = _LIST.search(file.name)
        try:
            if match:
                found[match[1]].update(dict.fromkeys(_names(file)))
            elif _OLD.search(file.name):
                for kind, names in found.items():
                    names.update(dict.fromkeys(_old_names(file, kind)))
            else:
                continue
        except FileUnreadable:
            continue  # not among those that were read: the report names it
        read.append(file.name)
    return People(tuple(found["following"]), tuple(found["followers"])), read


def _names(file: ArchiveFile) -> Iterator[str]:
    """The name stands at `value`, and in newer archives only in the title, or at the end of the address."""
    for _, entry in entries(read_list(file)):
        details = as_values((entry or {}).get("string_list_data"))
        first = as_object(details[0]) if details else {}
        address = as_text(first.get("href")).rstrip("/").rpartition("/")[2]
        name = as_text(first.get("value")) or as_text((entry or {}).get("title")) or address
        if name:
            yield name.lower()


def _old_names(file: ArchiveFile, kind: str) -> Iterator[str]:
    raw = read_object(file).get(kind)
    try:
        names = as_object(msgspec.json.decode(raw)) if raw is not None else {}
    except msgspec.DecodeError:
        return
    yield from (as_text(each).lower() for each in names)
