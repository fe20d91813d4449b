"""Reads JSON files of archives entry by entry: one entry that makes no sense is one that is skipped."""

from collections.abc import Iterator
from typing import Any, cast

import msgspec

from tintype.imports.archive_files import ArchiveFile
from tintype.imports.errors import FileUnreadable

MAX_JSON_BYTES = 256 << 20
BOM = b"\xef\xbb\xbf"


def read_object(file: ArchiveFile) -> dict[str, msgspec.Raw]:
    """The fields of a JSON file that is one object."""
    return _decode(_read(file), dict[str, msgspec.Raw])


def read_list(file: ArchiveFile) -> list[msgspec.Raw]:
    """The entries of a JSON file: of its list, of the first list in its object, or the object itself as the only."""
    content = _read(file)
    if content[:1] == b"[":
        return _decode(content, list[msgspec.Raw])
    fields = _decode(content, dict[str, msgspec.Raw])
    for value in fields.values():
        if bytes(memoryview(value)[:1]) == b"[" and not fields.keys() & {"media", "uri"}:
            return _decode(value, list[msgspec.Raw])
    return [msgspec.Raw(content)] if fields else []


def entries(raw: list[msgspec.Raw]) -> Iterator[tuple[int, dict[str, Any] | None]]:
    """Each entry with its number from 1; None for one that is no object."""
    for number, each in enumerate(raw, start=1):
        try:
            yield number, msgspec.json.decode(each, type=dict[str, Any])
        except (msgspec.DecodeError, RecursionError):
            yield number, None


def as_object(value: object) -> dict[str, Any]:
    """A value that should be an object; an empty one where it is not."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def as_values(value: object) -> list[Any]:
    """A value that should be a list; an empty one where it is not."""
    return cast("list[Any]", value) if isinstance(value, list) else []


def as_list(raw: msgspec.Raw | None) -> list[msgspec.Raw]:
    """The entries of a list; none where it is missing or no list."""
    if raw is None:
        return []
    try:
        return msgspec.json.decode(raw, type=list[msgspec.Raw])
    except (msgspec.DecodeError, RecursionError):
        return []


def _read(file: ArchiveFile) -> bytes:
    return file.read(MAX_JSON_BYTES).removeprefix(BOM).strip()


def _decode(content: bytes | msgspec.Raw, of: Any) -> Any:
    try:
        return msgspec.json.decode(content, type=of)
    except (msgspec.DecodeError, RecursionError) as error:
        raise FileUnreadable(f"The file is not the JSON that was expected: {error}") from error
