"""Ways in which a video says where it was recorded, each a change of a clip whose header comes last."""

import struct
from collections.abc import Callable
from pathlib import Path

import av

from tests.media.metadata.located_photos import SECRET, XMP
from tests.media.videos.sample_videos import METADATA, PLACE, box, into_moov, make_clip

POSITION = PLACE.encode()
Change = Callable[[bytes], bytes]


def full_box(kind: bytes, body: bytes) -> bytes:
    return box(kind, bytes(4) + body)


def text(kind: bytes) -> bytes:
    """A text of QuickTime's user data: its length, a language, and the text."""
    return box(kind, struct.pack(">HH", len(POSITION), 0x15C7) + POSITION)


def apple_metadata() -> bytes:
    """What an iPhone writes: names of keys, and a value by the number of its key."""
    key = b"com.apple.quicktime.location.ISO6709"
    keys = full_box(b"keys", struct.pack(">I", 1) + box(b"mdta", key))
    value = box(b"data", struct.pack(">II", 1, 0) + POSITION)
    handler = full_box(b"hdlr", bytes(4) + b"mdta" + bytes(13))
    return box(b"meta", handler + keys + box(b"ilst", box(b"\0\0\0\1", value)))


def loci() -> bytes:
    """The location box of 3GPP."""
    numbers = struct.pack(">Biii", 0, 11 * 65536, 48 * 65536, 500 * 65536)
    return full_box(b"loci", struct.pack(">H", 0x15C7) + SECRET + b"\0" + numbers + b"earth\0\0")


def xmp_box() -> bytes:
    return box(b"uuid", bytes.fromhex("be7acfcb97a942e89c71999491e3afac") + XMP)


def with_sensor_track(content: bytes) -> bytes:
    """A third track, with the samples of a GPS receiver in media data of their own."""
    samples = [b"GPS5" + SECRET, b"GPSU" + POSITION]
    trak = _sensor_track(0, samples)
    at = len(content) + len(trak) + 8
    return into_moov(content, _sensor_track(at, samples)) + box(b"mdat", b"".join(samples))


def _sensor_track(at: int, samples: list[bytes]) -> bytes:
    header = full_box(b"tkhd", struct.pack(">III", 0, 0, 9) + bytes(68))
    sizes = struct.pack(">II", 0, len(samples)) + b"".join(struct.pack(">I", len(each)) for each in samples)
    tables = (
        full_box(b"stsd", struct.pack(">I", 1) + box(b"gpmd", bytes(6) + b"\0\1" + bytes(4)))
        + full_box(b"stts", struct.pack(">III", 1, len(samples), 1000))
        + full_box(b"stsc", struct.pack(">IIII", 1, 1, len(samples), 1))
        + full_box(b"stsz", sizes)
        + full_box(b"stco", struct.pack(">II", 1, at))
    )
    references = box(b"dinf", full_box(b"dref", struct.pack(">I", 1) + box(b"url ", b"\0\0\0\1")))
    media = (
        full_box(b"mdhd", struct.pack(">IIIIHH", 0, 0, 1000, 2000, 0, 0))
        + full_box(b"hdlr", bytes(4) + b"meta" + bytes(12) + b"GoPro MET\0")
        + box(b"minf", full_box(b"nmhd", b"") + references + box(b"stbl", tables))
    )
    return box(b"trak", header + box(b"mdia", media))


def in_track(content: bytes, extra: bytes) -> bytes:
    """A box added to the last track, which ends the header but for its user data."""
    at = content.rindex(b"moov") - 4
    last = content.rindex(b"trak") - 4
    (length,) = struct.unpack_from(">I", content, last)
    end = last + length
    grown = content[:last] + struct.pack(">I", length + len(extra)) + content[last + 4 : end] + extra
    (size,) = struct.unpack_from(">I", content, at)
    changed = grown + content[end:]
    return changed[:at] + struct.pack(">I", size + len(extra)) + changed[at + 4 :]


LOCATED: dict[str, Change] = {
    "user data": lambda content: into_moov(content, box(b"udta", text(b"\xa9xyz"))),
    "the location of 3GPP": lambda content: into_moov(content, box(b"udta", loci())),
    "Apple's keys": lambda content: into_moov(content, apple_metadata()),
    "Apple's keys in user data": lambda content: into_moov(content, box(b"udta", apple_metadata())),
    "XMP at the end": lambda content: content + xmp_box(),
    "XMP in the header": lambda content: into_moov(content, box(b"udta", box(b"XMP_", XMP))),
    "XMP as a box of the header": lambda content: into_moov(content, xmp_box()),
    "metadata beside the header": lambda content: content + full_box(b"meta", XMP),
    "user data of a track": lambda content: in_track(content, box(b"udta", text(b"\xa9xyz"))),
    "metadata of a track": lambda content: in_track(content, apple_metadata()),
    "a track of sensors": with_sensor_track,
    "free space": lambda content: content + box(b"free", b"freeGPS " + SECRET + POSITION),
    "skipped space in the header": lambda content: into_moov(content, box(b"skip", POSITION)),
    "media data of no track": lambda content: content + box(b"mdat", b"freeGPS " + SECRET + POSITION),
    "a second header": lambda content: content + box(b"moov", box(b"udta", text(b"\xa9xyz"))),
    "an unknown box": lambda content: content + box(b"gps ", SECRET),
}


def make_located(folder: Path, change: Change) -> Path:
    """A clip with that change."""
    file = make_clip(folder / "clip.mp4", size=(64, 48))
    file.write_bytes(change(file.read_bytes()))
    return file


def make_fragmented(folder: Path) -> Path:
    """A clip in fragments, as screen recorders write it, with its location in the header."""
    source, file = make_clip(folder / "whole.mp4", seconds=2, size=(64, 48)), folder / "fragments.mp4"
    flags = {"movflags": "frag_keyframe+empty_moov+default_base_moof+use_metadata_tags"}
    with av.open(str(source)) as clip, av.open(str(file), "w", format="mp4", options=flags) as out:
        out.metadata.update(METADATA)
        targets = {stream.index: out.add_stream_from_template(stream) for stream in clip.streams}
        for packet in clip.demux():
            if packet.dts is not None:
                packet.stream = targets[packet.stream.index]
                out.mux(packet)
    return file


def packets_of(file: Path) -> list[tuple[int, int | None, bytes]]:
    """Every packet of video and audio: stream, time and bytes."""
    with av.open(str(file)) as clip:
        streams = [*clip.streams.video, *clip.streams.audio]
        return [
            (packet.stream.index, packet.pts, bytes(packet))
            for packet in clip.demux(*streams)
            if packet.dts is not None
        ]


def is_named(content: bytes) -> bool:
    """Whether the place is still in these bytes."""
    return any(mark in content for mark in (SECRET, b"48.1372", b"GPSLatitude", b"ISO6709"))
