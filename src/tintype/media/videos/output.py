"""The files that people get: an MP4 whose header comes first, and a playlist with segments of it.

Nothing of the source's metadata is carried over: the wrapping is written anew and only pictures and sound are copied.
"""

from pathlib import Path
from typing import Any, cast

import av
from av.bitstream import BitStreamFilterContext
from av.container import InputContainer, OutputContainer
from av.packet import Packet

from tintype.media.videos.models import Made

VIDEO = "video.mp4"
PLAYLIST = "index.m3u8"
SEGMENT_S = 4
EXACT = {"fflags": "+bitexact"}
"""Without the name and version of the library that wrote the file."""
NO_NOTES = "filter_units=remove_types=6"
"""Drops the notes between pictures (SEI), in which cameras and encoders write what they please."""


def new_mp4(file: Path) -> OutputContainer:
    """An empty MP4 that can be played while it loads."""
    return av.open(str(file), "w", format="mp4", options={"movflags": "+faststart", **EXACT})


def copy_packets(source: InputContainer, out: OutputContainer, streams: list[Any]) -> None:
    """Copy pictures and sound as they are, without notes."""
    targets = {stream.index: out.add_stream_from_template(stream) for stream in streams}
    video = streams[0]
    notes = BitStreamFilterContext(NO_NOTES, video, targets[video.index])
    for packet in source.demux(*streams):
        if packet.dts is None:
            continue
        target = targets[packet.stream.index]
        is_picture = packet.stream.index == video.index
        packets = cast("list[Packet[Any]]", notes.filter(packet)) if is_picture else [packet]
        for each in packets:
            each.stream = target
            out.mux(each)


def segment(video: Path) -> list[Made]:
    """Cut a finished MP4 at its key frames into a playlist beside it; returns the files, playlist first."""
    folder = video.parent
    for left_over in folder.glob("part*.m4s"):  # of a run that was broken off
        left_over.unlink()
    options = {
        "hls_time": str(SEGMENT_S),
        "hls_playlist_type": "vod",
        "hls_segment_type": "fmp4",
        "hls_fmp4_init_filename": "init.mp4",
        "hls_segment_filename": str(folder / "part%03d.m4s"),
        "hls_flags": "independent_segments",
        **EXACT,
    }
    playlist = folder / PLAYLIST
    with (
        av.open(str(video), "r", format="mov") as source,
        av.open(str(playlist), "w", format="hls", options=options) as out,
    ):
        copy_packets(source, out, [*source.streams.video, *source.streams.audio])
    return [made(playlist), made(folder / "init.mp4"), *map(made, sorted(folder.glob("part*.m4s")))]


def made(file: Path) -> Made:
    """A file by name and size."""
    return Made(file.name, file.stat().st_size)
