"""Writes the output files: an MP4 whose header comes first, and an HLS playlist with segments of it.

None of the source's metadata is carried over: the container is written from scratch, with only the streams copied.
"""

from pathlib import Path
from typing import Any, cast

import av
from av.bitstream import BitStreamFilterContext
from av.container import InputContainer, OutputContainer
from av.packet import Packet

from tintype.media.videos.models import OutputFile

VIDEO = "video.mp4"
PLAYLIST = "index.m3u8"
SEGMENT_S = 4
BIT_EXACT = {"fflags": "+bitexact"}
"""Omits the name and version of the library that wrote the file."""
STRIP_SEI = "filter_units=remove_types=6"
"""Drops SEI units, in which cameras and encoders write arbitrary data between frames."""


def new_mp4(file: Path) -> OutputContainer:
    """Create an MP4 whose header comes first, so that it plays while it downloads."""
    return av.open(str(file), "w", format="mp4", options={"movflags": "+faststart", **BIT_EXACT})


def copy_packets(source: InputContainer, out: OutputContainer, streams: list[Any]) -> None:
    """Copy the streams without re-encoding, and without SEI units."""
    targets = {stream.index: out.add_stream_from_template(stream) for stream in streams}
    video = streams[0]
    sei_filter = BitStreamFilterContext(STRIP_SEI, video, targets[video.index])
    for packet in source.demux(*streams):
        if packet.dts is None:
            continue
        target = targets[packet.stream.index]
        is_video = packet.stream.index == video.index
        packets = cast("list[Packet[Any]]", sei_filter.filter(packet)) if is_video else [packet]
        for each in packets:
            each.stream = target
            out.mux(each)


def segment(video: Path) -> list[OutputFile]:
    """Cut a finished MP4 at its key frames into HLS segments beside it; returns the files, playlist first."""
    folder = video.parent
    for left_over in folder.glob("part*.m4s"):  # of a run that was interrupted
        left_over.unlink()
    options = {
        "hls_time": str(SEGMENT_S),
        "hls_playlist_type": "vod",
        "hls_segment_type": "fmp4",
        "hls_fmp4_init_filename": "init.mp4",
        "hls_segment_filename": str(folder / "part%03d.m4s"),
        "hls_flags": "independent_segments",
        **BIT_EXACT,
    }
    playlist = folder / PLAYLIST
    with (
        av.open(str(video), "r", format="mov") as source,
        av.open(str(playlist), "w", format="hls", options=options) as out,
    ):
        copy_packets(source, out, [*source.streams.video, *source.streams.audio])
    return [
        output_file(playlist),
        output_file(folder / "init.mp4"),
        *map(output_file, sorted(folder.glob("part*.m4s"))),
    ]


def output_file(file: Path) -> OutputFile:
    """A file by name and size."""
    return OutputFile(file.name, file.stat().st_size)
