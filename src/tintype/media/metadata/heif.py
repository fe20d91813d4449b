"""Cleans a HEIF in place: coded images and their properties stay, other items and boxes are overwritten.

No offset moves. Exif items are rebuilt, XMP becomes an empty packet; every other item that is no image, every box that
is not on the list, and all bytes of the media data that no image uses are filled with zeros.
"""

from tintype.media.metadata.boxes import Box, Range, boxes, free, merged, zero_except
from tintype.media.metadata.heif_items import Item, read_items
from tintype.media.metadata.jpeg import clean_jpeg
from tintype.media.metadata.models import Cleaned, NotCleanable, Removed
from tintype.media.metadata.signs import has_location
from tintype.media.metadata.tiff import PREFIX, rebuild_exif

TOP_BOXES = {b"ftyp", b"meta", b"mdat"}
META_BOXES = {b"hdlr", b"pitm", b"iinf", b"iloc", b"iprp", b"iref", b"idat", b"dinf", b"grpl"}
PROPERTY_BOXES = {b"ipco", b"ipma"}
PROPERTIES = {
    *(b"ispe", b"pixi", b"pasp", b"colr", b"irot", b"imir", b"clap", b"auxC", b"rloc", b"iscl"),
    *(b"hvcC", b"lhvC", b"jpgC", b"lsel", b"tols", b"oinf", b"clli", b"mdcv", b"cclv", b"amve", b"ndwt"),
}
IMAGES = {b"hvc1", b"hev1", b"lhv1", b"grid", b"iovl", b"iden", b"tmap"}
EXIF, MIME, JPEG = b"Exif", b"mime", b"jpeg"
EMPTY_XMP = b'<x:xmpmeta xmlns:x="adobe:ns:meta/"/>'
FILLERS = {b"free", b"skip", b"wide"}


def clean_heif(content: bytes) -> Cleaned:
    """A copy of a HEIF of the same length, and what was overwritten in it."""
    copy = bytearray(content)
    removed: set[Removed] = set()
    top = list(boxes(copy, 0, len(copy), is_file=True))
    end = top[-1].end if top else 0
    if content[end:].strip(b"\0"):
        removed.add("attachments")
        removed.update(_location_in(content[end:]))
    del copy[end:]
    meta = _keep(copy, top, TOP_BOXES, removed, "attachments").get(b"meta")
    if meta is None:
        raise NotCleanable("no list of items")
    inside = _keep(copy, list(boxes(copy, meta.start + 4, meta.end)), META_BOXES, removed, "metadata")
    _clean_properties(copy, inside.get(b"iprp"), removed)
    data = [box for box in top if box.kind == b"mdat"]
    _clean_items(copy, inside, data, removed)
    return Cleaned([bytes(copy)], removed)


def _keep(
    copy: bytearray, found: list[Box], allowed: set[bytes], removed: set[Removed], what: Removed
) -> dict[bytes, Box]:
    """Free the boxes that are not on the list, and any second of a kind but `mdat`; returns the others by kind."""
    kept: dict[bytes, Box] = {}
    for box in found:
        if box.kind in allowed and (box.kind not in kept or box.kind == b"mdat"):
            kept[box.kind] = box
            continue
        _free(copy, box, removed, "metadata" if box.kind in FILLERS else what)
    return kept


def _free(copy: bytearray, box: Box, removed: set[Removed], what: Removed) -> None:
    body = bytes(copy[box.start : box.end])
    if body.strip(b"\0"):
        removed.add(what)
        removed.update(_location_in(body))
    free(copy, box)


def _clean_properties(copy: bytearray, iprp: Box | None, removed: set[Removed]) -> None:
    if iprp is None:
        raise NotCleanable("no properties")
    for box in boxes(copy, iprp.start, iprp.end):
        if box.kind not in PROPERTY_BOXES:
            _free(copy, box, removed, "metadata")
        elif box.kind == b"ipco":
            for each in boxes(copy, box.start, box.end):
                if each.kind not in PROPERTIES:  # it stays in its place: properties are numbered
                    _free(copy, each, removed, "metadata")


def _clean_items(copy: bytearray, inside: dict[bytes, Box], data: list[Box], removed: set[Removed]) -> None:
    storage = [*data, *([inside[b"idat"]] if b"idat" in inside else [])]
    items = read_items(copy, inside)
    images = merged([each for item in items if item.kind in IMAGES for each in item.extents])
    kept = list(images)
    for item in items:
        if item.kind not in IMAGES:
            if any(_overlap(extent, image) for extent in item.extents for image in images):
                raise NotCleanable("an item lies within an image")
            _replace(copy, item, removed)
            kept.extend(item.extents)
    kept = merged(kept)
    if any(not _is_within(each, storage) for item in items for each in item.extents):
        raise NotCleanable("an item lies outside of the media data")
    for box in storage:
        if zero_except(copy, box.start, box.end, kept):
            removed.add("attachments")


def _replace(copy: bytearray, item: Item, removed: set[Removed]) -> None:
    """Overwrite an item that is no image; Exif, XMP and JPEG previews keep a form that readers expect."""
    body = b"".join(bytes(copy[start:end]) for start, end in item.extents)
    removed.update(_location_in(body))
    clean = b""
    if item.kind == EXIF:
        rebuilt = rebuild_exif(body[4:])
        clean = _exif_item(rebuilt.block, len(body)) if rebuilt.block else b""
        if rebuilt.is_reduced:
            removed.add("metadata")
    elif item.kind == JPEG:
        clean = clean_jpeg(body).content()
    elif body.strip(b"\0 ") not in {b"", EMPTY_XMP}:
        removed.add("metadata")
    if item.kind == MIME and item.content_type == b"application/rdf+xml":
        clean = EMPTY_XMP.ljust(len(body))
    if len(clean) > len(body):
        clean = b""
    _write(copy, item, clean.ljust(len(body), b"\0"))


def _exif_item(block: bytes, size: int) -> bytes:
    """An Exif item: the offset of the TIFF header after these four bytes, and with room for it the usual prefix."""
    if 4 + len(PREFIX) + len(block) <= size:
        return len(PREFIX).to_bytes(4, "big") + PREFIX + block
    return bytes(4) + block


def _write(copy: bytearray, item: Item, body: bytes) -> None:
    at = 0
    for start, end in item.extents:
        copy[start:end] = body[at : at + end - start]
        at += end - start


def _overlap(one: Range, other: Range) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def _is_within(extent: Range, storage: list[Box]) -> bool:
    return any(box.start <= extent[0] and extent[1] <= box.end for box in storage)


def _location_in(body: bytes) -> set[Removed]:
    return {"location"} if has_location(body) else set()
