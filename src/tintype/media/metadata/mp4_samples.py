"""Where the samples of a video's tracks lie in the file: by its sample tables, and by its fragments."""

import struct
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tintype.media.metadata.boxes import Box, Range, boxes
from tintype.media.metadata.models import NotCleanable

MAX_SAMPLES = 10_000_000
DESCRIPTION_BYTES = 60
"""Of a list with one description of audio and its packing."""
PATH = (b"mdia", b"minf", b"stbl")
# Flags of `tfhd` and `trun`: which fields follow.
HAS_BASE, HAS_DESCRIPTION, HAS_DURATION, HAS_SIZE = 0x1, 0x2, 0x8, 0x10
BASE_IS_MOOF = 0x20000
HAS_OFFSET, HAS_FIRST_FLAGS = 0x1, 0x4
SAMPLE_SIZE, SAMPLE_FIELDS = 0x200, (0x100, 0x200, 0x400, 0x800)


@dataclass
class Track:
    """A track of the header, with its sample tables as bytes."""

    number: int
    handler: bytes
    tables: dict[bytes, bytes] = field(default_factory=dict[bytes, bytes])
    default_size: int = 0
    """Of a sample in a fragment that does not say."""
    fragment_end: int = 0
    """Where the last run of this fragment ended: the next begins there unless it says otherwise."""


def read_track(content: memoryview, trak: Box) -> Track:
    """The number, handler and tables of a track."""
    inside = {box.kind: box for box in reversed(list(boxes(content, trak.start, trak.end)))}
    header, media = inside.get(b"tkhd"), inside.get(b"mdia")
    if header is None or media is None or header.end - header.start < 24:  # noqa: PLR2004 - its number ends there
        raise NotCleanable("a track without a header")
    at = header.start + (20 if content[header.start] == 1 else 12)
    handler = next((box for box in boxes(content, media.start, media.end) if box.kind == b"hdlr"), None)
    kind = bytes(content[handler.start + 8 : handler.start + 12]) if handler else b""
    track = Track(int.from_bytes(content[at : at + 4], "big"), kind)
    box: Box | None = trak
    for name in PATH:
        children = boxes(content, box.start, box.end) if box else iter(())
        box = next((each for each in children if each.kind == name), None)
    if box is not None:
        for each in boxes(content, box.start, box.end):
            track.tables.setdefault(each.kind, bytes(content[each.start : each.end]))
    return track


def sample_ranges(track: Track) -> list[Range]:
    """The range of each chunk, by the sizes of its samples; none for a track whose samples are in fragments."""
    tables = track.tables
    try:
        sizes, uniform, count = _sizes(tables)
        offsets = _offsets(tables)
        if not count or not len(offsets):
            return []
        per_chunk = _samples_per_chunk(tables[b"stsc"], len(offsets), count)
    except (KeyError, struct.error, ValueError) as error:
        raise NotCleanable("the sample tables cannot be read") from error
    ends = np.minimum(np.cumsum(per_chunk), count)
    starts = np.concatenate(([0], ends[:-1]))
    if sizes is None:
        lengths = _uniform_bytes(tables.get(b"stsd", b""), ends - starts, uniform)
    else:
        total = np.concatenate(([0], np.cumsum(sizes, dtype=np.int64)))
        lengths = total[ends] - total[starts]
    return [(int(at), int(at + size)) for at, size in zip(offsets, lengths, strict=True) if size > 0]


def _sizes(tables: dict[bytes, bytes]) -> tuple["NDArray[np.int64] | None", int, int]:
    """The sizes of all samples, or None and the one that all have; and how many samples there are."""
    if b"stsz" in tables:
        uniform, count = struct.unpack_from(">II", tables[b"stsz"], 4)
        if uniform or not count:
            return None, uniform, min(count, MAX_SAMPLES)
        return np.frombuffer(tables[b"stsz"], ">u4", count=count, offset=12).astype(np.int64), 0, count
    bits, count = struct.unpack_from(">BI", tables[b"stz2"], 7)
    if bits not in {8, 16}:
        raise NotCleanable("sample sizes of four bits")
    kind = ">u1" if bits == 8 else ">u2"  # noqa: PLR2004 - numbers of the format's own layout
    return np.frombuffer(tables[b"stz2"], kind, count=count, offset=12).astype(np.int64), 0, count


def _offsets(tables: dict[bytes, bytes]) -> "NDArray[np.int64]":
    name, kind = (b"stco", ">u4") if b"stco" in tables else (b"co64", ">u8")
    (count,) = struct.unpack_from(">I", tables[name], 4)
    return np.frombuffer(tables[name], kind, count=count, offset=8).astype(np.int64)


def _samples_per_chunk(table: bytes, chunks: int, samples: int) -> "NDArray[np.int64]":
    """How many samples each chunk has: runs of (first chunk, samples in each), up to the next run."""
    (count,) = struct.unpack_from(">I", table, 4)
    runs = np.frombuffer(table, ">u4", count=3 * count, offset=8).reshape(-1, 3).astype(np.int64)
    if not count or runs[0, 0] != 1 or bool((np.diff(runs[:, 0]) <= 0).any()):
        raise NotCleanable("chunks out of order")
    firsts = np.minimum(runs[:, 0] - 1, chunks)
    lengths = np.diff(np.concatenate((firsts, [chunks])))
    return np.minimum(np.repeat(runs[:, 1], lengths), samples)


def _uniform_bytes(descriptions: bytes, counts: "NDArray[np.int64]", size: int) -> "NDArray[np.int64]":
    """The bytes of chunks whose samples have one size.

    QuickTime may say one byte for a sample of audio; then the description has its size, or says how many samples are
    packed into how many bytes.
    """
    if size != 1 or len(descriptions) < DESCRIPTION_BYTES:
        return counts * size
    version, channels, bits = struct.unpack_from(">H6xHH", descriptions, 24)
    per_packet, _, frame_bytes = struct.unpack_from(">III", descriptions, 44)
    if version == 1 and per_packet:
        return -(-counts // per_packet) * frame_bytes
    return counts * max(1, channels * bits // 8)


def fragment_ranges(
    content: memoryview, moof: Box, traf: Box, tracks: dict[int, Track]
) -> list[Range] | None:
    """The ranges of the samples of one track in a fragment; None for a track that is not kept."""
    inside = list(boxes(content, traf.start, traf.end))
    header = next((box for box in inside if box.kind == b"tfhd"), None)
    if header is None:
        raise NotCleanable("a fragment without a header")
    reader = _Fields(content, header)
    flags, number = reader.flags, reader.next(4)
    track = tracks.get(number)
    if track is None:
        return None
    base = reader.next(8) if flags & HAS_BASE else moof.at
    for flag in (HAS_DESCRIPTION, HAS_DURATION):
        if flags & flag:
            reader.next(4)
    size = reader.next(4) if flags & HAS_SIZE else track.default_size
    track.fragment_end = base
    return [_run(content, box, base, size, track) for box in inside if box.kind == b"trun"]


def _run(content: memoryview, box: Box, base: int, size: int, track: Track) -> Range:
    reader = _Fields(content, box)
    count = reader.next(4)
    start = base + reader.next(4, signed=True) if reader.flags & HAS_OFFSET else track.fragment_end
    if reader.flags & HAS_FIRST_FLAGS:
        reader.next(4)
    fields = [flag for flag in SAMPLE_FIELDS if reader.flags & flag]
    if reader.flags & SAMPLE_SIZE:
        rows = reader.rows(count, len(fields))
        length = int(rows[:, fields.index(SAMPLE_SIZE)].sum(dtype=np.uint64))
    else:
        length = count * size
    track.fragment_end = start + length
    if start < 0:
        raise NotCleanable("samples before the file")
    return start, start + length


class _Fields:
    """Reads the fields of a full box, one after the other."""

    def __init__(self, content: memoryview, box: Box) -> None:
        self._content, self._at, self._end = content, box.start, box.end
        self.flags = self.next(4) & 0xFFFFFF

    def next(self, size: int, *, signed: bool = False) -> int:
        if self._at + size > self._end:
            raise NotCleanable("a box is cut off")
        self._at += size
        return int.from_bytes(self._content[self._at - size : self._at], "big", signed=signed)

    def rows(self, count: int, columns: int) -> "NDArray[np.uint32]":
        if self._at + 4 * count * columns > self._end:
            raise NotCleanable("a run is cut off")
        found = np.frombuffer(self._content, ">u4", count=count * columns, offset=self._at)
        return found.reshape(count, columns).astype(np.uint32)
