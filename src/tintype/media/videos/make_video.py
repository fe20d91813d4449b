"""Converts a video for browsers: remuxed where every browser can play its streams already, else transcoded."""

from pathlib import Path

from tintype.media.videos.errors import VideoDamaged
from tintype.media.videos.models import MadeVideo, ProbeRequest, VideoRequest
from tintype.media.videos.mux import PLAYLIST, VIDEO, copy_packets, new_mp4, output_file, segment
from tintype.media.videos.open_video import open_video
from tintype.media.videos.probe import first_frame, measure, probe, shown_size
from tintype.media.videos.progress_file import ProgressFile
from tintype.media.videos.transcode import transcode

LONG_S = 15
"""Longer ones also get a playlist, so that nobody downloads a minute to see three seconds."""


def make_video(request: VideoRequest) -> MadeVideo:
    """Remux where that works everywhere, which is cheap; else, or when that fails, transcode."""
    if probe(ProbeRequest(request.source)).may_remux:
        try:
            return remux(request)
        except VideoDamaged:
            pass  # copied packets do not always make a valid file; decoding and encoding them may
    return reencode(request)


def remux(request: VideoRequest) -> MadeVideo:
    """Copy the streams into a clean MP4; the rotation that the phone recorded stays."""
    file = Path(request.folder) / VIDEO
    first = first_frame(request.source)
    with open_video(request.source) as opened, new_mp4(file) as out:
        width, height = shown_size(opened, first)
        copy_packets(opened.container, out, list(opened.streams))
    ProgressFile(request.progress).report(1)
    return _finished(file, (width, height), is_remuxed=True)


def reencode(request: VideoRequest) -> MadeVideo:
    """Decode and encode, reporting progress."""
    with open_video(request.source) as opened:
        video, audio = measure(opened)
    starts = [length.start_s for length in (video, audio) if length.start_s is not None]
    file = Path(request.folder) / VIDEO
    size = transcode(
        request.source,
        file,
        duration_s=max(video.duration_s, audio.duration_s),
        start_s=min(starts),
        progress=ProgressFile(request.progress),
        threads=request.threads,
    )
    return _finished(file, size, is_remuxed=False)


def _finished(file: Path, size: tuple[int, int], *, is_remuxed: bool) -> MadeVideo:
    """The result, measured like any uploaded file."""
    with open_video(str(file)) as opened:
        video, audio = measure(opened)
        has_sound = opened.audio is not None
    duration_s = round(max(video.duration_s, audio.duration_s), 3)
    segments = segment(file) if duration_s > LONG_S else []
    return MadeVideo(
        width=size[0],
        height=size[1],
        duration_s=duration_s,
        way="remuxed" if is_remuxed else "transcoded",
        has_sound=has_sound,
        video=output_file(file),
        playlist=PLAYLIST if segments else None,
        segments=segments,
    )
