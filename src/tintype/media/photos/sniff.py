"""Detects a file's format by its content alone, and reads the size in its header, before any decoder sees it.

Names and content types are claims of a stranger. A file that is not clearly of one of our formats is refused; so is a
polyglot, which is of one of them and something else as well. Sizes are read by small parsers of our own that read a
bounded part of the file and refuse what they do not understand: a size that cannot be read is never accepted.
"""

import os
import struct
from collections.abc import Callable
from pathlib import Path

from tintype.media.errors import MediaDamaged, MediaDimensionsRefused, MediaDisguised, MediaUnsupported
from tintype.media.photos import heif_header, jpeg_header, png_header, webp_header
from tintype.media.photos.models import FileFormat, Header

MAX_PIXELS = 64_000_000
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

# Signatures that readers of other formats search for near the start of a file, whatever comes before.
POLYGLOT_SIGNATURES = (
    b"%pdf-",
    b"<html",
    b"<!doctype",
    b"<script",
    b"<svg",
    b"<?php",
    b"#extm3u",
    b"push graphic-context",
)

_READERS: dict[FileFormat, Callable[[bytes], tuple[int, int]]] = {
    FileFormat.JPEG: jpeg_header.read_size,
    FileFormat.PNG: png_header.read_size,
    FileFormat.WEBP: webp_header.read_size,
    FileFormat.HEIC: heif_header.read_size,
}


def sniff(source: Path) -> FileFormat:
    """The format of a file; refuses formats we do not accept, and polyglots."""
    with source.open("rb") as file:
        head = file.read(HEAD_BYTES)
        file.seek(max(0, os.fstat(file.fileno()).st_size - TAIL_BYTES))
        tail = file.read(TAIL_BYTES)
    return detect_format(head, tail)


def detect_format(head: bytes, tail: bytes = b"") -> FileFormat:
    """The format of a file by its first (4 KB) and last (64 KB) bytes."""
    kind = _detect(head)
    if kind is None:
        raise MediaUnsupported(begins=head[:16].hex())
    if _is_polyglot(head) or _ends_as_zip(tail):
        raise MediaDisguised(kind=str(kind))
    return kind


def read_header(content: bytes) -> Header:
    """The format and size of a photo by its header; refuses what we do not accept, or cannot read, or is too large."""
    kind = detect_format(content[:HEAD_BYTES], content[-TAIL_BYTES:])
    if not kind.is_photo:
        raise MediaUnsupported(kind=str(kind))
    try:
        width, height = _READERS[kind](content)
    except (struct.error, IndexError) as error:  # a field past the end of the file
        raise MediaDamaged(kind=str(kind), error=str(error)) from error
    check_size(width, height)
    return Header(kind, width, height)


def check_size(width: int, height: int) -> None:
    """Refuse dimensions that we do not decode."""
    long, short = max(width, height), min(width, height)
    if short < 1 or long > LONGEST_SIDE or width * height > MAX_PIXELS or long > WIDEST_RATIO * short:
        raise MediaDimensionsRefused(width=width, height=height)


def _detect(head: bytes) -> FileFormat | None:
    if head.startswith(b"\xff\xd8\xff"):
        return FileFormat.JPEG
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return FileFormat.PNG
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return FileFormat.WEBP
    if head[4:8] == b"ftyp":
        return _detect_by_brand(head)
    return None


def _detect_by_brand(head: bytes) -> FileFormat | None:
    """The format of an ISO media file by its brands: the major one first, then the compatible ones."""
    length = min(int.from_bytes(head[:4], "big"), 256)
    major = head[8:12]
    brands = {major, *(head[at : at + 4] for at in range(16, length - 3, 4))}
    if major in UNREADABLE_BRANDS:
        return None
    for kind, known in (
        (FileFormat.HEIC, HEIC_BRANDS),
        (FileFormat.MOV, MOV_BRANDS),
        (FileFormat.MP4, MP4_BRANDS),
    ):
        if major in known:
            return kind if kind is not FileFormat.HEIC or not brands & UNREADABLE_BRANDS else None
    return None


def _is_polyglot(head: bytes) -> bool:
    """Whether a reader of another format would find its own signature near the start."""
    start = head[:1024].lower()
    return any(signature in start for signature in POLYGLOT_SIGNATURES)


def _ends_as_zip(tail: bytes) -> bool:
    """Whether the file ends with a ZIP: its end record reaches the end of the file exactly."""
    at = tail.rfind(b"PK\x05\x06")
    while at >= 0:
        record = tail[at : at + 22]
        if len(record) == 22 and at + 22 + int.from_bytes(record[20:22], "little") == len(tail):  # noqa: PLR2004 - numbers of the format's own layout
            return True
        at = tail.rfind(b"PK\x05\x06", 0, at)
    return False
