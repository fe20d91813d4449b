"""Tells what a file is by its content alone, and how large it says it is, before any decoder sees it.

Names and content types are claims of a stranger. What is not plainly one of our kinds is refused; so is a file that
is one of them and something else besides. Sizes are read by small parsers of our own that look at a bounded part of
the file and refuse what they do not understand: a size that cannot be read is never let through.
"""

import os
import struct
from collections.abc import Callable
from pathlib import Path

from tintype.media.errors import MediaDamaged, MediaDimensionsRefused, MediaDisguised, MediaUnsupported
from tintype.media.photos import heif_header, jpeg_header, png_header, webp_header
from tintype.media.photos.models import Header, Kind

MOST_PIXELS = 64_000_000
LONGEST_SIDE = 16_384
WIDEST_RATIO = 10

HEAD_BYTES = 4096
TAIL_BYTES = 22 + 65_535
"""The end of a ZIP: a record of 22 bytes and a comment of at most 65,535."""

HEIC_BRANDS = {b"heic", b"heix", b"heim", b"heis", b"mif1", b"msf1", b"hevc", b"hevx"}
MOV_BRANDS = {b"qt  "}
MP4_BRANDS = {
    b"isom",
    b"iso2",
    b"iso4",
    b"iso5",
    b"iso6",
    b"mp41",
    b"mp42",
    b"avc1",
    b"M4V ",
    b"MSNV",
    b"dash",
}
UNREADABLE_BRANDS = {b"avif", b"avis"}

# What other readers look for near a file's beginning, whatever comes before it.
OTHER_TONGUES = (
    b"%pdf-",
    b"<html",
    b"<!doctype",
    b"<script",
    b"<svg",
    b"<?php",
    b"#extm3u",
    b"push graphic-context",
)

_READERS: dict[Kind, Callable[[bytes], tuple[int, int]]] = {
    Kind.JPEG: jpeg_header.read_size,
    Kind.PNG: png_header.read_size,
    Kind.WEBP: webp_header.read_size,
    Kind.HEIC: heif_header.read_size,
}


def sniff(source: Path) -> Kind:
    """Return the kind of a file; refuse what we do not take and what is two things at once."""
    with source.open("rb") as file:
        head = file.read(HEAD_BYTES)
        file.seek(max(0, os.fstat(file.fileno()).st_size - TAIL_BYTES))
        tail = file.read(TAIL_BYTES)
    return kind_of(head, tail)


def kind_of(head: bytes, tail: bytes = b"") -> Kind:
    """Return the kind of a file by its first (4 KB) and last (64 KB) bytes."""
    kind = _find_kind(head)
    if kind is None:
        raise MediaUnsupported(begins=head[:16].hex())
    if _speaks_another_tongue(head) or _ends_as_zip(tail):
        raise MediaDisguised(kind=str(kind))
    return kind


def read_header(content: bytes) -> Header:
    """Return what a photo says it is; refuse what we do not take, what is too large and what cannot be read."""
    kind = kind_of(content[:HEAD_BYTES], content[-TAIL_BYTES:])
    if not kind.is_photo:
        raise MediaUnsupported(kind=str(kind))
    try:
        width, height = _READERS[kind](content)
    except (struct.error, IndexError) as error:  # a field past the end of the file
        raise MediaDamaged(kind=str(kind), error=str(error)) from error
    check_size(width, height)
    return Header(kind, width, height)


def check_size(width: int, height: int) -> None:
    """Refuse sizes that we do not decode."""
    long, short = max(width, height), min(width, height)
    if short < 1 or long > LONGEST_SIDE or width * height > MOST_PIXELS or long > WIDEST_RATIO * short:
        raise MediaDimensionsRefused(width=width, height=height)


def _find_kind(head: bytes) -> Kind | None:
    if head.startswith(b"\xff\xd8\xff"):
        return Kind.JPEG
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return Kind.PNG
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return Kind.WEBP
    if head[4:8] == b"ftyp":
        return _kind_of_brands(head)
    return None


def _kind_of_brands(head: bytes) -> Kind | None:
    """ISO media files name their brands: the one they are, then those they may be read as."""
    length = min(int.from_bytes(head[:4], "big"), 256)
    major = head[8:12]
    brands = {major, *(head[at : at + 4] for at in range(16, length - 3, 4))}
    if major in UNREADABLE_BRANDS:
        return None
    for kind, known in ((Kind.HEIC, HEIC_BRANDS), (Kind.MOV, MOV_BRANDS), (Kind.MP4, MP4_BRANDS)):
        if major in known:
            return kind if kind is not Kind.HEIC or not brands & UNREADABLE_BRANDS else None
    return None


def _speaks_another_tongue(head: bytes) -> bool:
    """Whether something that reads past a beginning it does not know would find its own."""
    start = head[:1024].lower()
    return any(tongue in start for tongue in OTHER_TONGUES)


def _ends_as_zip(tail: bytes) -> bool:
    """Whether a ZIP lies at the end: its last record reaches the end exactly and a directory lies before it."""
    at = tail.rfind(b"PK\x05\x06")
    while at >= 0:
        record = tail[at : at + 22]
        if len(record) == 22 and at + 22 + int.from_bytes(record[20:22], "little") == len(tail):  # noqa: PLR2004
            return True
        at = tail.rfind(b"PK\x05\x06", 0, at)
    return False
