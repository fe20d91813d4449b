"""Parses the boxes of an MP4 or MOV before any library does, as far as our limits need.

A header that claims little is not trusted, one that claims much is: a file that announces more samples, larger frames
or more tracks than we accept is refused before anything is allocated for it.
"""

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import msgspec
import numpy as np

from tintype.media.videos.errors import (
    VideoDamaged,
    VideoProtected,
    VideoTooLarge,
    VideoTooLong,
    VideoUnsupported,
    VideoWithoutPictures,
)
from tintype.media.videos.models import LONGEST_SIDE, MAX_FRAMES, SHORTER_SIDE

MAX_HEADER_BYTES = 16 * 1024 * 1024
MAX_TOP_BOXES = 20_000
MAX_INNER_BOXES = 5_000
MAX_TRACKS = 12
MAX_EDITS = 64
MAX_SAMPLES = 6_000_000
"""Of audio: uncompressed audio counts every sample, 48,000 a second."""
MAX_DEPTH = 8
CONTAINER_BOXES = {b"moov", b"trak", b"mdia", b"minf", b"stbl", b"dinf", b"edts", b"mvex"}
ENCRYPTED = {b"encv", b"enca", b"encs", b"enct", b"drms", b"drmi"}
UPRIGHT = (1, 0, 0, 1)
ROTATION_FILTERS = {
    UPRIGHT: "",
    (0, 1, -1, 0): "transpose=clock",
    (-1, 0, 0, -1): "hflip,vflip",
    (0, -1, 1, 0): "transpose=cclock",
    (-1, 0, 0, 1): "hflip",
    (1, 0, 0, -1): "vflip",
    (0, 1, 1, 0): "transpose=cclock_flip",
    (0, -1, -1, 0): "transpose=clock_flip",
}
"""The FFmpeg filters that undo each orientation of a phone."""


class Mp4Header(msgspec.Struct, frozen=True):
    """What the header says about the video track."""

    matrix: tuple[int, int, int, int]
    """The rotation: a, b, c, d of the matrix, each -1, 0 or 1."""
    tracks: int


class _Track(msgspec.Struct):
    handler: bytes = b""
    matrix: tuple[int, int, int, int] = UPRIGHT
    samples: int = 0
    sizes: list[tuple[int, int]] = msgspec.field(default_factory=list[tuple[int, int]])


def check_header(file: Path) -> Mp4Header:
    """Check the header of a file against our limits, or raise why it is refused."""
    size = file.stat().st_size
    with file.open("rb") as stream:
        header = _find_header(stream, size)
    tracks: list[_Track] = []
    _walk(memoryview(header), tracks, [MAX_INNER_BOXES], 0)
    pictures = [track for track in tracks if track.handler == b"vide"]
    if not pictures:
        raise VideoWithoutPictures(tracks=len(tracks))
    if len(tracks) > MAX_TRACKS:
        raise VideoUnsupported(tracks=len(tracks))
    for track in tracks:
        _check_track(track)
    return Mp4Header(pictures[0].matrix, len(tracks))


def check_sound(file: Path) -> None:
    """Check the header of a file that is to hold one track of sound and nothing else."""
    with file.open("rb") as stream:
        header = _find_header(stream, file.stat().st_size)
    tracks: list[_Track] = []
    _walk(memoryview(header), tracks, [MAX_INNER_BOXES], 0)
    if [track.handler for track in tracks] != [b"soun"]:
        raise VideoUnsupported(tracks=[repr(track.handler) for track in tracks[:MAX_TRACKS]])
    _check_track(tracks[0])


def header_parts(file: Path) -> Iterator[bytes]:
    """Every top box but the media data, as bytes: where a player looks for anything but frames."""
    with file.open("rb") as stream:
        for kind, start, end in _top_boxes(stream, file.stat().st_size):
            if kind != b"mdat" and end - start <= MAX_HEADER_BYTES:
                stream.seek(start)
                yield kind + stream.read(end - start)


def _find_header(stream: BinaryIO, size: int) -> bytes:
    """The `moov` box; every box must end within the file."""
    header: bytes | None = None
    for at, (kind, start, end) in enumerate(_top_boxes(stream, size)):
        if at == 0 and kind not in {b"ftyp", b"moov", b"mdat", b"wide", b"free", b"skip"}:
            raise VideoUnsupported(first_box=repr(kind))
        if kind == b"moov" and header is None:
            if end - start > MAX_HEADER_BYTES:
                raise VideoTooLong(header_bytes=end - start)
            stream.seek(start)
            header = stream.read(end - start)
    if header is None:
        raise VideoDamaged(missing="moov")
    return header


def _top_boxes(stream: BinaryIO, size: int) -> Iterator[tuple[bytes, int, int]]:
    at = 0
    for _ in range(MAX_TOP_BOXES):
        if at == size:
            return
        stream.seek(at)
        head = stream.read(16)
        if len(head) < 8:  # noqa: PLR2004 - a length and a name
            raise VideoDamaged(at=at)
        length, kind, inset = _box(head, size - at)
        if length < inset or at + length > size:
            raise VideoDamaged(box=repr(kind), at=at, length=length)
        yield kind, at + inset, at + length
        at += length
    raise VideoUnsupported(boxes=MAX_TOP_BOXES)


def _box(head: bytes | memoryview, left: int) -> tuple[int, bytes, int]:
    """Length, type and header length of a box; a length of 0 means to the end, 1 that a 64-bit length follows."""
    length, kind = struct.unpack_from(">I4s", head)
    if length == 0:
        return left, kind, 8
    if length == 1:
        return (struct.unpack_from(">Q", head, 8)[0] if len(head) >= 16 else -1), kind, 16  # noqa: PLR2004 - numbers of the format's own layout
    return length, kind, 8


def _walk(content: memoryview, tracks: list[_Track], left: list[int], depth: int) -> None:
    at = 0
    while at + 8 <= len(content):
        left[0] -= 1
        if left[0] < 0 or depth > MAX_DEPTH:
            raise VideoUnsupported(boxes=MAX_INNER_BOXES)
        length, kind, inset = _box(content[at : at + 16], len(content) - at)
        if length < inset or at + length > len(content):
            raise VideoDamaged(box=repr(kind))
        _read_box(kind, content[at + inset : at + length], tracks, left, depth)
        at += length


def _read_box(kind: bytes, body: memoryview, tracks: list[_Track], left: list[int], depth: int) -> None:
    if kind in {b"pssh", b"sinf"}:
        raise VideoProtected(box=repr(kind))
    if kind == b"cmov":
        raise VideoUnsupported(box=repr(kind))
    if kind == b"trak":
        tracks.append(_Track())
    if kind in CONTAINER_BOXES:
        _walk(body, tracks, left, depth + 1)
    elif tracks and kind in _READERS:
        try:
            _READERS[kind](body, tracks[-1])
        except (struct.error, IndexError) as error:
            raise VideoDamaged(box=repr(kind)) from error


def _read_track_header(body: memoryview, track: _Track) -> None:
    inset = 52 if body[0] == 1 else 40
    numbers = struct.unpack_from(">9i", body, inset)
    a, b, _, c, d = numbers[:5]
    matrix = (_sign(a), _sign(b), _sign(c), _sign(d))
    track.matrix = matrix if matrix in ROTATION_FILTERS else UPRIGHT


def _sign(value: int) -> int:
    return 0 if abs(value) < 1 << 15 else (1 if value > 0 else -1)


def _read_handler(body: memoryview, track: _Track) -> None:
    if (
        not track.handler and bytes(body[4:8]) != b"dhlr"
    ):  # in a MOV, a second one describes where the data are
        track.handler = bytes(body[8:12])


def _read_samples(body: memoryview, track: _Track) -> None:
    """Read the claimed number of samples from `stsz` or `stz2`."""
    track.samples = max(track.samples, struct.unpack_from(">I", body, 8)[0])


def _read_times(body: memoryview, track: _Track) -> None:
    (count,) = struct.unpack_from(">I", body, 4)
    if count > (len(body) - 8) // 8:
        raise VideoDamaged(box="stts", entries=count)
    counts = np.frombuffer(body, ">u4", count=2 * count, offset=8)[::2]
    track.samples = max(track.samples, int(counts.sum(dtype=np.uint64)))


def _read_descriptions(body: memoryview, track: _Track) -> None:
    at = 8
    while at + 16 <= len(body):
        length, kind = struct.unpack_from(">I4s", body, at)
        if kind in ENCRYPTED:
            raise VideoProtected(kind=repr(kind))
        if track.handler == b"vide":
            track.sizes.append(struct.unpack_from(">HH", body, at + 32))
        at += max(length, 16)


def _read_edits(body: memoryview, track: _Track) -> None:
    del track
    (count,) = struct.unpack_from(">I", body, 4)
    if count > MAX_EDITS:
        raise VideoUnsupported(edits=count)


_READERS = {
    b"tkhd": _read_track_header,
    b"hdlr": _read_handler,
    b"stsz": _read_samples,
    b"stz2": _read_samples,
    b"stts": _read_times,
    b"stsd": _read_descriptions,
    b"elst": _read_edits,
}


def _check_track(track: _Track) -> None:
    if track.handler == b"vide" and track.samples > MAX_FRAMES:
        raise VideoTooLong(frames=track.samples)
    if track.samples > MAX_SAMPLES:
        raise VideoTooLong(samples=track.samples)
    for width, height in track.sizes:
        check_size(width, height)


def check_size(width: int, height: int) -> None:
    """Refuse frames above 4K in either orientation, and empty ones."""
    if max(width, height) > LONGEST_SIDE or min(width, height) > SHORTER_SIDE:
        raise VideoTooLarge(width=width, height=height)
    if min(width, height) < 2:  # noqa: PLR2004 - chroma is stored for two pixels at a time
        raise VideoDamaged(width=width, height=height)
