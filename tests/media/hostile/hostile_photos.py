"""Photos made to do harm: bombs, polyglots, odd chunks and boxes. Made here, by the byte."""

import io
import struct
import zipfile
import zlib
from collections.abc import Callable

from tests.media.metadata.sample_heif import ExtraItem, HeifParts, box, full_box, make_heif
from tests.media.photos import sample_photos
from tests.media.photos.sample_photos import chunk, png, scan_bomb, with_jpeg_size, with_segment

MEGABYTE = 1 << 20
PICTURE = sample_photos.landscape(200, 150)
JPEG = sample_photos.encode(PICTURE, quality=85)
PROGRESSIVE = sample_photos.encode(PICTURE, progressive=True)
PNG = sample_photos.encode(PICTURE, "PNG")
WEBP = sample_photos.encode(PICTURE, "WEBP")
HEIC = sample_photos.heic(PICTURE)
ZEROS = sample_photos.packed_zeros(64)


def _zip() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("index.html", "<script>alert(1)</script>")
    return buffer.getvalue()


def _riff(*chunks: bytes) -> bytes:
    body = b"WEBP" + b"".join(chunks)
    return b"RIFF" + struct.pack("<I", len(body)) + body


def _riff_chunk(kind: bytes, body: bytes) -> bytes:
    return kind + struct.pack("<I", len(body)) + body + bytes(len(body) & 1)


def _animated(kind: str, frames: int = 200) -> bytes:
    pictures = [sample_photos.plain((at % 256, 0, 0), width=64, height=64) for at in range(frames)]
    return sample_photos.encode(pictures[0], kind, save_all=True, append_images=pictures[1:])


def _nested(kind: bytes, depth: int) -> bytes:
    """Boxes in boxes in boxes."""
    return b"".join(struct.pack(">I4s", 8 * (depth - at), kind) for at in range(depth))


def _with_claim(content: bytes, kind: bytes, offset: int, value: int, size: int = 4) -> bytes:
    """The same file with another number in the body of a box or chunk."""
    at = content.index(kind) + 4 + offset
    return content[:at] + value.to_bytes(size, "big") + content[at + size :]


def bombs() -> dict[str, bytes]:
    return {
        "a PNG of 65,000 pixels a side": png(65_000, 65_000),
        "a PNG of 8,000 pixels a side in a kilobyte": png(8_000, 8_000, rows=bytes(8)),
        "a PNG that unpacks to more than its rows": png(64, 64, rows=b"")[:-12].replace(
            zlib.compress(b""), b""
        )
        + chunk(b"IDAT", ZEROS)
        + chunk(b"IEND", b""),
        "a PNG with a profile bomb": png(8, 8, chunk(b"iCCP", b"x\0\0" + ZEROS), rows=bytes(72)),
        "a PNG with a text bomb": png(8, 8, chunk(b"zTXt", b"x\0\0" + ZEROS), rows=bytes(72)),
        "a PNG with an international text bomb": png(
            8, 8, chunk(b"iTXt", b"x\0\1\0\0\0" + ZEROS), rows=bytes(72)
        ),
        "a PNG with a thousand packed texts": png(
            8, 8, *[chunk(b"zTXt", b"x\0\0" + zlib.compress(bytes(100_000)))] * 1000, rows=bytes(72)
        ),
        "a PNG with a text of 20 MB": png(
            8, 8, chunk(b"tEXt", b"x\0" + b"a" * 20 * MEGABYTE), rows=bytes(72)
        ),
        "a PNG of 60,000 chunks": png(8, 8, *[chunk(b"tEXt", b"x\0y")] * 60_000, rows=bytes(72)),
        "a PNG of empty image chunks": png(8, 8, *[chunk(b"IDAT", b"")] * 10_000, rows=bytes(72)),
        "a JPEG of 65,500 pixels a side": with_jpeg_size(JPEG, 65_500, 65_500),
        "a JPEG of 8,000 pixels a side with the data of 200": with_jpeg_size(JPEG, 8_000, 8_000),
        "a scan bomb": scan_bomb(scans=600),
        "a scan bomb just below the limit": scan_bomb(side=2048, scans=70),
        "a JPEG of 100,000 comments": with_segment(JPEG, 0xFE, b"").replace(
            b"\xff\xfe\0\2", b"\xff\xfe\0\2" * 100_000, 1
        ),
        "a JPEG with comments between its scans": PROGRESSIVE[: PROGRESSIVE.rindex(b"\xff\xda")]
        + b"\xff\xfe\0\2" * 200_000
        + PROGRESSIVE[PROGRESSIVE.rindex(b"\xff\xda") :],
        "a JPEG of fill bytes": JPEG[:2] + b"\xff" * 20 * MEGABYTE + JPEG[2:],
        "a JPEG of tables": JPEG[:2] + (b"\xff\xdb\0\x43\0" + bytes(64)) * 1900 + JPEG[2:],
        "a WebP of 16,383 pixels a side": _riff(
            _riff_chunk(b"VP8L", b"\x2f" + (16_382 | 16_382 << 14).to_bytes(4, "little") + bytes(64))
        ),
        "a WebP whose canvas is larger": _riff(
            _riff_chunk(b"VP8X", bytes(4) + b"\xff\x3f\0\xff\x3f\0"), WEBP[12:]
        ),
        "an animated WebP": _animated("WEBP"),
        "an animated PNG": _animated("PNG"),
        "a HEIC of 60,000 pixels a side": _with_claim(HEIC, b"ispe", 4, 60_000),
        "a HEIC of 16,000 by 4,000 with the data of less": _with_claim(
            _with_claim(HEIC, b"ispe", 4, 16_000), b"ispe", 8, 4_000
        ),
        "a HEIC with a grid of itself": make_heif(
            HeifParts([ExtraItem(b"grid", b"\0\0\xff\xff" + struct.pack(">HH", 64, 48))])
        ),
    }


def polyglots() -> dict[str, bytes]:
    return {
        "a JPEG and a ZIP": JPEG + _zip(),
        "a PNG and a ZIP": PNG + _zip(),
        "a WebP and a ZIP": WEBP + _zip(),
        "a HEIC and a ZIP": HEIC + _zip(),
        "a JPEG and a page": with_segment(JPEG, 0xFE, b"<html><script>alert(1)</script>"),
        "a PNG and a page": png(8, 8, chunk(b"tEXt", b"x\0<script>alert(1)</script>"), rows=bytes(72)),
        "a WebP and a page": _riff(_riff_chunk(b"XXXX", b"<svg onload=alert(1)>"), WEBP[12:]),
        "a HEIC and a page": make_heif(HeifParts(top_boxes=[box(b"free", b"<html><body onload=alert(1)>")])),
        "a JPEG and a PDF": with_segment(JPEG, 0xFE, b"%PDF-1.7\n1 0 obj"),
        "a JPEG and PHP": with_segment(JPEG, 0xE1, b"Exif\0\0<?php system($_GET[0]); ?>"),
        "a JPEG and JavaScript": JPEG[:2] + b"\xff\xe0\x2f\x2a" + b"=1/*" * 3000 + JPEG[2:],
        "a PNG after a JPEG": JPEG + PNG,
        "a page after a JPEG": JPEG + b"<html><script>alert(1)</script>",
    }


def disguises() -> dict[str, bytes]:
    return {
        "an SVG": b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>",
        "an SVG after a declaration": b"<?xml version='1.0'?><!DOCTYPE svg [<!ENTITY a SYSTEM 'file:///etc/passwd'>]><svg>&a;</svg>",
        "a page": b"<!doctype html><script>alert(1)</script>",
        "a PDF": b"%PDF-1.7\n1 0 obj\n<<>>\nendobj",
        "a ZIP": _zip(),
        "a gzip of zeros": b"\x1f\x8b\x08\0\0\0\0\0\0\x03" + ZEROS[2:],
        "a GIF": b"GIF89a" + struct.pack("<HH", 65_535, 65_535) + bytes(100),
        "an animated GIF": _animated("GIF"),
        "a TIFF": sample_photos.encode(PICTURE, "TIFF"),
        "a BMP": sample_photos.encode(PICTURE, "BMP"),
        "an AVIF": sample_photos.encode(PICTURE, "AVIF"),
        "an icon": b"\0\0\1\0\1\0" + bytes(64),
        "a JPEG 2000": sample_photos.encode(PICTURE, "JPEG2000"),
        "a script for ImageMagick": b"push graphic-context\nimage over 0,0 0,0 '|id'",
        "a playlist": b"#EXTM3U\n#EXT-X-MEDIA-SEQUENCE:0\nconcat:file:///etc/passwd\n",
        "PostScript": b"%!PS-Adobe-3.0 EPSF-3.0\n(/etc/passwd) (r) file",
        "a program": b"\x7fELF\x02\x01\x01" + bytes(200),
        "text": b"not a picture at all",
        "nothing but zeros": bytes(10_000),
        "a signature and nothing": b"\x89PNG\r\n\x1a\n",
        "a file type and nothing": box(b"ftyp", b"heic\0\0\0\0mif1"),
    }


def odd_boxes() -> dict[str, bytes]:
    return {
        "boxes nested a thousand deep": make_heif(HeifParts(top_boxes=[_nested(b"meta", 1000)])),
        "item lists nested a thousand deep": make_heif(HeifParts(meta_boxes=[_nested(b"iprp", 1000)])),
        "a box of no length": make_heif(HeifParts(trailer=struct.pack(">I4s", 0, b"uuid") + bytes(64))),
        "a box of no length before the rest": make_heif(
            HeifParts(top_boxes=[struct.pack(">I4s", 0, b"free")])
        ),
        "a box shorter than its header": make_heif(HeifParts(top_boxes=[struct.pack(">I4s", 4, b"free")])),
        "a box of 2^63 bytes": make_heif(HeifParts(top_boxes=[struct.pack(">I4sQ", 1, b"free", 1 << 63)])),
        "a box that wraps around": make_heif(
            HeifParts(top_boxes=[struct.pack(">I4sQ", 1, b"free", (1 << 64) - 8)])
        ),
        "a hundred thousand boxes": make_heif(HeifParts(trailer=box(b"free", b"") * 100_000)),
        "a second list of items": make_heif(HeifParts(trailer=full_box(b"meta", b""))),
        "65,535 places of items": _with_claim(make_heif(HeifParts()), b"iloc", 6, 0xFFFF, 2),
        "65,535 items": _with_claim(make_heif(HeifParts()), b"iinf", 4, 0xFFFF, 2),
        "four billion properties": _with_claim(make_heif(HeifParts()), b"ipma", 4, 0xFFFFFFFF),
        "a picture that is not there": _with_claim(make_heif(HeifParts()), b"pitm", 4, 999, 2),
        "a picture outside of the file": _with_claim(make_heif(HeifParts()), b"iloc", 16, 0xFFFFFFF0),
        "an item twice": make_heif(HeifParts([ExtraItem(b"hvc1", b"")] * 2)),
        "an Exif item of one byte": make_heif(HeifParts([ExtraItem(b"Exif", b"\xff")])),
        "an Exif item that points far away": make_heif(
            HeifParts([ExtraItem(b"Exif", b"\xff\xff\xff\xffII*\0")])
        ),
        "a thousand Exif items": make_heif(
            HeifParts([ExtraItem(b"Exif", b"\0\0\0\0II*\0\x08\0\0\0\xff\xff")] * 1000)
        ),
        "Exif tables in a circle": with_segment(
            JPEG, 0xE1, b"Exif\0\0II*\0\x08\0\0\0\x01\0\x69\x87\x04\0\x01\0\0\0\x08\0\0\0\x08\0\0\0"
        ),
        "an Exif table of 65,535 entries": with_segment(
            JPEG, 0xE1, b"Exif\0\0MM\0*\0\0\0\x08\xff\xff" + bytes(60_000)
        ),
        "a JPEG segment of no length": JPEG[:2] + b"\xff\xe5\0\0" + JPEG[2:],
        "a PNG chunk of four gigabytes": PNG[:33] + b"\xff\xff\xff\xffIDAT" + PNG[41:],
        "a PNG with two headers": PNG[:33] + PNG[8:],
        "a PNG without a header": PNG[:8] + PNG[33:],
        "a PNG of no size": png(0, 0, rows=b""),
        "a WebP chunk of four gigabytes": WEBP[:16] + b"\xff\xff\xff\xff" + WEBP[20:],
        "a WebP that says it is empty": WEBP[:4] + bytes(4) + WEBP[8:],
    }


def truncated() -> dict[str, bytes]:
    """Each format, cut off at many places."""
    whole = {"JPEG": JPEG, "progressive JPEG": PROGRESSIVE, "PNG": PNG, "WebP": WEBP, "HEIC": HEIC}
    return {
        f"{len(content) * part // 12} bytes of a {name}": content[: len(content) * part // 12]
        for name, content in whole.items()
        for part in range(1, 12)
    }


GROUPS: dict[str, Callable[[], dict[str, bytes]]] = {
    "bombs": bombs,
    "polyglots": polyglots,
    "disguises": disguises,
    "odd boxes": odd_boxes,
    "cut off": truncated,
}
"""Files by what is wrong with them; making them takes seconds, so it waits for the test that sends them."""
