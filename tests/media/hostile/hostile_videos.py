"""Videos made to do harm, each a change of a clip whose header comes last."""

import struct
from collections.abc import Callable

from tests.media.metadata.located_videos import full_box
from tests.media.videos.sample_videos import box, into_moov, put

Change = Callable[[bytes], bytes]


def _put(kind: bytes, offset: int, value: int) -> Change:
    def change(content: bytes) -> bytes:
        changed = bytearray(content)
        put(changed, kind, offset, value)
        return bytes(changed)

    return change


def _nested(kind: bytes, depth: int) -> bytes:
    return b"".join(struct.pack(">I4s", 8 * (depth - at), kind) for at in range(depth))


HOSTILE: dict[str, Change] = {
    "cut in the header": lambda content: content[:-200],
    "cut in the frames": lambda content: content[: len(content) // 2],
    "a header and nothing": lambda content: content[content.rindex(b"moov") - 4 :],
    "frames and no header": lambda content: content[: content.rindex(b"moov") - 4],
    "boxes nested a thousand deep": lambda content: into_moov(content, _nested(b"trak", 1000)),
    "a hundred thousand boxes": lambda content: content + box(b"free", b"") * 100_000,
    "ten thousand boxes in the header": lambda content: into_moov(content, box(b"free", b"") * 10_000),
    "a box of no length in the header": lambda content: into_moov(content, struct.pack(">I4s", 0, b"udta")),
    "a box of no length at the end": lambda content: content + struct.pack(">I4s", 0, b"uuid") + bytes(99),
    "a box of 2^63 bytes": lambda content: content + struct.pack(">I4sQ", 1, b"free", 1 << 63),
    "a box that wraps around": lambda content: content + struct.pack(">I4sQ", 1, b"free", (1 << 64) - 8),
    "a page as free space": lambda content: content + box(b"free", b"<html><script>alert(1)</script>"),
    "a page at the start": lambda content: content[:16] + b"<script>" + content[24:],
    "four billion samples": _put(b"stsz", 8, 0xFFFFFFFF),
    "samples of four gigabytes": _put(b"stsz", 4, 0xFFFFFFFF),
    "four billion chunks": _put(b"stco", 4, 0xFFFFFFFF),
    "frames outside of the file": _put(b"stco", 8, 0xFFFFFFF0),
    "frames in the header": lambda content: _put(b"stco", 8, content.rindex(b"moov"))(content),
    "chunks out of order": _put(b"stsc", 8, 0),
    "four billion runs": _put(b"stsc", 4, 0xFFFFFFFF),
    "a frame that lasts for hours": _put(b"stts", 12, 1 << 30),
    "sides of 65,535": _put(b"stsd", 8 + 32, 0xFFFFFFFF),
    "no sides": _put(b"stsd", 8 + 32, 0),
    "a hundred tracks": lambda content: into_moov(content, box(b"trak", b"") * 100),
    "a fragment of no track": lambda content: (
        content + box(b"moof", box(b"traf", full_box(b"tfhd", b"\0\0\0\7")))
    ),
    "a fragment of a billion samples": lambda content: (
        content
        + box(
            b"moof",
            box(b"traf", full_box(b"tfhd", b"\0\0\0\1") + full_box(b"trun", b"\xff\xff\xff\xff")),
        )
    ),
    "a packed header": lambda content: into_moov(content, box(b"cmov", bytes(64))),
    "copy protection": lambda content: into_moov(content, box(b"pssh", bytes(64))),
    "a link to another file": lambda content: into_moov(
        content, box(b"rmra", box(b"rmda", full_box(b"rdrf", b"url \0\0\0\x0cfile:///etc/passwd")))
    ),
    "noise for frames": lambda content: content[:48] + bytes(range(256)) * 8 + content[48 + 2048 :],
}
