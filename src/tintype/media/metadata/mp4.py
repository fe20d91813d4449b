"""Cleans an MP4 or MOV in place: one header, video and audio tracks and their samples stay, all else is zeroed.

No offset moves. User data, metadata (`udta`, `meta`, `uuid`), tracks of other kinds (GPS and motion sensors, texts,
time codes) and all bytes of the media data that belong to no sample of the kept tracks are overwritten.
"""

from tintype.media.metadata.boxes import Box, Range, boxes, free, merged, zero_except
from tintype.media.metadata.models import NotCleanable, Removed
from tintype.media.metadata.mp4_samples import Track, fragment_ranges, read_track, sample_ranges
from tintype.media.metadata.signs import has_location

TOP_BOXES = {b"ftyp", b"moov", b"mdat", b"moof", b"styp", b"sidx", b"ssix", b"mfra", b"pdin"}
REPEATED = {b"mdat", b"moof", b"styp", b"sidx", b"ssix", b"trak", b"traf", b"trun", b"trex"}
CHILDREN: dict[bytes, set[bytes]] = {
    b"moov": {b"mvhd", b"trak", b"mvex"},
    b"mvex": {b"mehd", b"trex"},
    b"trak": {b"tkhd", b"edts", b"mdia", b"tapt"},
    b"edts": {b"elst"},
    b"tapt": {b"clef", b"prof", b"enof"},
    b"mdia": {b"mdhd", b"hdlr", b"minf"},
    b"minf": {b"vmhd", b"smhd", b"hdlr", b"dinf", b"stbl"},
    b"stbl": {
        *(b"stsd", b"stts", b"ctts", b"cslg", b"stss", b"stps", b"sdtp", b"stsc", b"stsz", b"stz2"),
        *(b"stco", b"co64", b"sgpd", b"sbgp"),
    },
    b"moof": {b"mfhd", b"traf"},
    b"traf": {b"tfhd", b"tfdt", b"trun", b"sdtp", b"sgpd", b"sbgp"},
    b"mfra": {b"tfra", b"mfro"},
}
"""The boxes that stay, by the box that holds them; all others are freed."""
REPEATED_INSIDE = {b"sgpd", b"sbgp", b"tfra"}
KEPT_HANDLERS = {b"vide", b"soun"}
LOCATION_KINDS = (b"loci", b"gpmd", b"camm", b"freeGPS")
"""Boxes and tracks that hold a location in a form of their own."""


def clean_mp4(content: memoryview) -> set[Removed]:
    """Clean a video in place; returns what was removed."""
    removed: set[Removed] = set()
    kept = _keep(content, list(boxes(content, 0, len(content))), TOP_BOXES, removed)
    moov = next((box for box in kept if box.kind == b"moov"), None)
    if moov is None:
        raise NotCleanable("no header")
    tracks = _clean_header(content, moov, removed)
    ranges = [each for track in tracks.values() for each in sample_ranges(track)]
    for box in kept:
        if box.kind == b"moof":
            ranges.extend(_clean_fragment(content, box, tracks, removed))
        elif box.kind == b"mfra":
            _keep(content, list(boxes(content, box.start, box.end)), CHILDREN[b"mfra"], removed)
    _clean_data(content, [box for box in kept if box.kind == b"mdat"], merged(ranges), removed)
    return removed


def _clean_header(content: memoryview, moov: Box, removed: set[Removed]) -> dict[int, Track]:
    """Free what is not allowed in the header; returns the tracks that stay."""
    tracks: dict[int, Track] = {}
    inside = _keep(content, list(boxes(content, moov.start, moov.end)), CHILDREN[b"moov"], removed)
    for box in inside:
        if box.kind == b"trak":
            track = read_track(content, box)
            if track.handler not in KEPT_HANDLERS:
                _free(content, box, removed)
                continue
            if track.number in tracks:
                raise NotCleanable("two tracks of one number")
            tracks[track.number] = track
            _clean_children(content, box, removed)
    for box in inside:
        if box.kind == b"mvex":
            for each in _keep(content, list(boxes(content, box.start, box.end)), CHILDREN[b"mvex"], removed):
                if each.kind == b"trex":
                    number, size = _trex(content, each)
                    if number in tracks:
                        tracks[number].default_size = size
    return tracks


def _trex(content: memoryview, box: Box) -> tuple[int, int]:
    """The track of default values for fragments, and the size of a sample."""
    body = bytes(content[box.start : box.end])
    return int.from_bytes(body[4:8], "big"), int.from_bytes(body[16:20], "big")


def _clean_children(content: memoryview, box: Box, removed: set[Removed]) -> None:
    for each in _keep(content, list(boxes(content, box.start, box.end)), CHILDREN[box.kind], removed):
        if each.kind in CHILDREN:
            _clean_children(content, each, removed)


def _clean_fragment(
    content: memoryview, moof: Box, tracks: dict[int, Track], removed: set[Removed]
) -> list[Range]:
    ranges: list[Range] = []
    for box in _keep(content, list(boxes(content, moof.start, moof.end)), CHILDREN[b"moof"], removed):
        if box.kind == b"traf":
            found = fragment_ranges(content, moof, box, tracks)
            if found is None:
                _free(content, box, removed)
            else:
                ranges.extend(found)
                _clean_children(content, box, removed)
    return ranges


def _clean_data(content: memoryview, data: list[Box], kept: list[Range], removed: set[Removed]) -> None:
    """Overwrite what belongs to no sample."""
    for box in data:
        if zero_except(content, box.start, box.end, kept):
            removed.add("metadata")


def _keep(content: memoryview, found: list[Box], allowed: set[bytes], removed: set[Removed]) -> list[Box]:
    """Free the boxes that are not on the list, and a second one of those that occur once; returns the others."""
    kept: list[Box] = []
    seen: set[bytes] = set()
    for box in found:
        is_again = box.kind in seen and box.kind not in REPEATED | REPEATED_INSIDE
        if box.kind in allowed and not is_again:
            kept.append(box)
            seen.add(box.kind)
        else:
            _free(content, box, removed)
    return kept


def _free(content: memoryview, box: Box, removed: set[Removed]) -> None:
    body = bytes(content[box.at + 4 : min(box.end, box.at + 1024 * 1024)])
    if body[4:].strip(b"\0"):
        removed.add("metadata")
        if has_location(body) or any(kind in body for kind in LOCATION_KINDS):
            removed.add("location")
    free(content, box)
