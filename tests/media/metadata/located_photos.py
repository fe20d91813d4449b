"""Photos that say where they were taken, each in another way. All of them name `SECRET`, or have `COORDINATES`."""

import base64
import contextlib
import io
import struct
import zlib
from typing import Any

from PIL import ExifTags, Image

from tests.media.metadata.sample_heif import ExtraItem, HeifParts, box, exif_item, full_box, make_heif
from tests.media.photos import sample_photos
from tests.media.photos.sample_photos import chunk, with_segment

SECRET = b"Harbour Lane 17"
LATITUDE = (33.0, 51.0, 31.25)
COORDINATES = struct.pack(">II", 3125, 100), struct.pack("<II", 3125, 100), struct.pack(">II", 125, 4)
XMP = (
    b'<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
    b'<rdf:Description xmlns:exif="http://ns.adobe.com/exif/1.0/" exif:GPSLatitude="33,51.52S" '
    b'exif:GPSLongitude="151,12.6E" photoshop:City="' + SECRET + b'"/></rdf:RDF></x:xmpmeta>'
)
PICTURE = sample_photos.corners(64, 48)
UPRIGHT = sample_photos.corners(48, 64)


def exif(*, order: str = ">", orientation: int = 1, maker_note: bytes = b"") -> bytes:
    """A TIFF block with a camera, a description and a GPS table."""
    written = Image.Exif()
    written.endian = order
    written[ExifTags.Base.Make] = "Tintype Works"
    written[ExifTags.Base.Orientation] = orientation
    written[ExifTags.Base.ImageDescription] = SECRET.decode()
    if maker_note:
        written.get_ifd(ExifTags.IFD.Exif)[ExifTags.Base.MakerNote] = maker_note
    written.get_ifd(ExifTags.IFD.Exif)[ExifTags.Base.FNumber] = 2.8
    place = written.get_ifd(ExifTags.IFD.GPSInfo)
    place[ExifTags.GPS.GPSLatitudeRef], place[ExifTags.GPS.GPSLatitude] = "S", LATITUDE
    place[ExifTags.GPS.GPSLongitudeRef], place[ExifTags.GPS.GPSLongitude] = "E", (151.0, 12.0, 36.0)
    return written.tobytes()[6:]


def iptc() -> bytes:
    """A Photoshop resource with an IPTC record: city, sublocation, country."""
    record = b"".join(
        struct.pack(">BBBH", 0x1C, 2, dataset, len(SECRET)) + SECRET for dataset in (90, 92, 101)
    )
    return b"Photoshop 3.0\x008BIM\x04\x04\0\0" + struct.pack(">I", len(record)) + record


def clip() -> bytes:
    """The end of a motion photo: an MP4 with its position in the header."""
    position = box(b"\xa9xyz", struct.pack(">HH", 18, 0x15C7) + b"+33.8587+151.2100/")
    return box(b"ftyp", b"mp42") + box(b"moov", box(b"udta", position + SECRET)) + box(b"mdat", SECRET)


def _jpeg(**options: Any) -> bytes:
    return sample_photos.encode(PICTURE, quality=90, **options)


def _jpeg_with(*segments: tuple[int, bytes]) -> bytes:
    content = _jpeg()
    for marker, body in reversed(segments):
        content = with_segment(content, marker, body)
    return content


def _between_scans() -> bytes:
    """A progressive JPEG with a comment and an Exif block after its first scan."""
    content = _jpeg(progressive=True)
    at = content.index(b"\xff\xda", content.index(b"\xff\xda") + 2)
    hidden = with_segment(with_segment(b"\xff\xd8", 0xFE, SECRET), 0xE1, b"Exif\0\0" + exif())[2:]
    return content[:at] + hidden + content[at:]


def _mpf() -> bytes:
    """Two images in one file, the second with an Exif block of its own."""
    buffer = io.BytesIO()
    second = Image.open(io.BytesIO(_jpeg(exif=b"Exif\0\0" + exif())))
    PICTURE.save(buffer, "MPO", save_all=True, append_images=[second], exif=b"Exif\0\0" + exif())
    return buffer.getvalue()


def _extended_xmp() -> list[tuple[int, bytes]]:
    guid = b"0123456789ABCDEF0123456789ABCDEF"
    main = b'<x:xmpmeta xmpNote:HasExtendedXMP="' + guid + b'"/>'
    half = len(XMP) // 2
    parts = [(0, XMP[:half]), (half, XMP[half:])]
    name = b"http://ns.adobe.com/xmp/extension/\0"
    return [
        (0xE1, b"http://ns.adobe.com/xap/1.0/\0" + main),
        *((0xE1, name + guid + struct.pack(">II", len(XMP), at) + part) for at, part in parts),
    ]


JPEGS = {
    "Exif": _jpeg(exif=b"Exif\0\0" + exif()),
    "Exif in the other byte order": _jpeg(exif=b"Exif\0\0" + exif(order="<")),
    "Exif with a maker note": _jpeg(exif=b"Exif\0\0" + exif(maker_note=b"Panasonic\0" + SECRET)),
    "a second Exif segment": _jpeg_with((0xE1, b"Exif\0\0" + exif()), (0xE1, b"Exif\0\0" + exif())),
    "Exif with another padding": _jpeg_with((0xE1, b"Exif\0\xff" + exif())),
    "Exif in another segment": _jpeg_with((0xE7, b"Exif\0\0" + exif())),
    "XMP": _jpeg(xmp=XMP),
    "XMP in several segments": _jpeg_with(*_extended_xmp()),
    "IPTC": _jpeg_with((0xED, iptc())),
    "a comment": _jpeg_with((0xFE, SECRET)),
    "a JFIF thumbnail": _jpeg_with((0xE0, b"JFXX\0\x10" + _jpeg(exif=b"Exif\0\0" + exif()))),
    "between scans": _between_scans(),
    "a second image": _mpf(),
    "a motion photo": _jpeg(exif=b"Exif\0\0" + exif()) + clip(),
    "a trailer": _jpeg() + SECRET + b"SEFT",
}


def _png(*chunks: bytes, trailer: bytes = b"") -> bytes:
    content = sample_photos.encode(PICTURE, "PNG")
    at = content.index(b"IDAT") - 4
    return content[:at] + b"".join(chunks) + content[at:] + trailer


def _profile(kind: bytes, body: bytes) -> bytes:
    return b"\n" + kind + b"\n%8d\n" % len(body) + body.hex().encode() + b"\n"


def _after_picture(extra: bytes) -> bytes:
    content = sample_photos.encode(PICTURE, "PNG")
    return content[:-12] + extra + content[-12:]


PNGS = {
    "an eXIf chunk": _png(chunk(b"eXIf", exif())),
    "an eXIf chunk after the picture": _after_picture(chunk(b"eXIf", exif(order="<"))),
    "a text": _png(chunk(b"tEXt", b"Comment\0" + SECRET)),
    "a packed text": _png(chunk(b"zTXt", b"Comment\0\0" + zlib.compress(SECRET))),
    "XMP": _png(chunk(b"iTXt", b"XML:com.adobe.xmp\0\0\0\0\0" + XMP)),
    "packed XMP": _png(chunk(b"iTXt", b"XML:com.adobe.xmp\0\1\0\0\0" + zlib.compress(XMP))),
    "a raw profile": _png(
        chunk(b"tEXt", b"Raw profile type exif\0" + _profile(b"exif", b"Exif\0\0" + exif()))
    ),
    "a packed raw profile": _png(
        chunk(
            b"zTXt",
            b"Raw profile type APP1\0\0" + zlib.compress(_profile(b"APP1", b"Exif\0\0" + exif())),
        )
    ),
    "a packed IPTC profile": _png(
        chunk(b"zTXt", b"Raw profile type iptc\0\0" + zlib.compress(_profile(b"iptc", iptc())))
    ),
    "a private chunk": _png(chunk(b"prVt", SECRET)),
    "a trailer": _png(trailer=clip()),
}


def _webp(*, trailer: bytes = b"", extra: bytes = b"", **options: Any) -> bytes:
    content = sample_photos.encode(PICTURE, "WEBP", quality=90, **options) + extra
    return content[:4] + struct.pack("<I", len(content) - 8) + content[8:] + trailer


def _riff_chunk(kind: bytes, body: bytes) -> bytes:
    return kind + struct.pack("<I", len(body)) + body + bytes(len(body) & 1)


WEBPS = {
    "Exif": _webp(exif=exif()),
    "Exif with a prefix": _webp(exif=b"Exif\0\0" + exif(order="<")),
    "XMP": _webp(xmp=XMP),
    "both": _webp(exif=exif(), xmp=XMP),
    "an unknown chunk": _webp(extra=_riff_chunk(b"GPS ", SECRET)),
    "a trailer": _webp(trailer=clip()),
}

XMP_ITEM = ExtraItem(b"mime", XMP, b"application/rdf+xml")
HEICS = {
    "Exif with the usual prefix": make_heif(HeifParts([exif_item(exif())])),
    "Exif without a prefix": make_heif(HeifParts([exif_item(exif(), offset=0, lead=b"")])),
    "Exif without a prefix in the other byte order": make_heif(
        HeifParts([exif_item(exif(order="<"), offset=0, lead=b"")])
    ),
    "Exif at an odd offset": make_heif(HeifParts([exif_item(exif(), offset=21, lead=bytes(21))])),
    "Exif at a wrong offset": make_heif(HeifParts([exif_item(exif(), offset=4, lead=b"Exif\0\0")])),
    "several Exif items": make_heif(HeifParts([exif_item(exif()), exif_item(exif(), offset=0, lead=b"")])),
    "Exif in the item list": make_heif(HeifParts([ExtraItem(b"Exif", bytes(4) + exif(), is_in_idat=True)])),
    "XMP": make_heif(HeifParts([XMP_ITEM])),
    "Exif and XMP": make_heif(HeifParts([exif_item(exif(), offset=0, lead=b""), XMP_ITEM])),
    "XMP of another content type": make_heif(HeifParts([ExtraItem(b"mime", XMP, b"text/xml")])),
    "an item of an unknown type": make_heif(HeifParts([ExtraItem(b"gps ", SECRET)])),
    "an item with a URI type": make_heif(HeifParts([ExtraItem(b"uri ", SECRET, b"tag:a:b")])),
    "a JPEG preview": make_heif(HeifParts([ExtraItem(b"jpeg", JPEGS["Exif"])])),
    "a uuid box": make_heif(HeifParts(top_boxes=[box(b"uuid", bytes(16) + exif() + XMP)])),
    "a uuid box in the item list": make_heif(HeifParts(meta_boxes=[box(b"uuid", bytes(16) + exif())])),
    "an XML box": make_heif(HeifParts(meta_boxes=[full_box(b"xml ", XMP + b"\0")])),
    "a property": make_heif(HeifParts(properties=[full_box(b"udes", b"en\0" + SECRET + b"\0\0")])),
    "a motion clip": make_heif(HeifParts(trailer=box(b"mpvd", clip()))),
    "a trailer": make_heif(HeifParts(trailer=SECRET)),
    "free space": make_heif(HeifParts(top_boxes=[box(b"free", exif())])),
    "bytes that no item uses": make_heif(HeifParts(gap=b"Exif\0\0" + exif())),
}
LOCATED = {
    f"{kind}: {name}": content
    for kind, files in (("JPEG", JPEGS), ("PNG", PNGS), ("WebP", WEBPS), ("HEIC", HEICS))
    for name, content in files.items()
}
WITHOUT_COORDINATES = {
    *(f"JPEG: {name}" for name in ("a comment", "a trailer")),
    *(f"PNG: {name}" for name in ("a text", "a packed text", "a private chunk")),
    "WebP: an unknown chunk",
    *(f"HEIC: {name}" for name in ("an item of an unknown type", "an item with a URI type", "a property")),
    *(f"HEIC: {name}" for name in ("a trailer", "bytes that no item uses")),
}
"""Free text that names a place: it is removed like all of its kind, and nobody can tell that it was a location."""


def is_named(content: bytes) -> bool:
    """Whether the place is still in these bytes: as text, as coordinates, packed or in hexadecimal."""
    views = [content, content.replace(b"\0", b"")]
    for mark in (b"\x78\x9c", b"\x78\xda", b"\x78\x01"):
        at = content.find(mark)
        while at >= 0:
            with contextlib.suppress(zlib.error):
                views.append(zlib.decompressobj().decompress(content[at:], 1 << 20))
            at = content.find(mark, at + 1)
    marks = [SECRET, b"GPSLatitude", *COORDINATES]
    marks += [part for each in marks for part in (each.hex().encode(), base64.b64encode(each)[:-4])]
    return any(mark in view for view in views for mark in marks)
