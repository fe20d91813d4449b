"""A video made ready for people: wrapped anew where every browser plays it already, else made anew."""

from pathlib import Path

from tintype.media.videos.errors import VideoDamaged
from tintype.media.videos.measure import first_picture, measure, probe, shown_size
from tintype.media.videos.models import MadeVideo, VideoWanted, Wanted
from tintype.media.videos.opening import open_video
from tintype.media.videos.output import PLAYLIST, VIDEO, copy_packets, made, new_mp4, segment
from tintype.media.videos.progress import Progress
from tintype.media.videos.transcode import transcode

LONG_S = 15
"""Longer ones also get a playlist, so that nobody loads a minute to see three seconds."""


def make_video(wanted: VideoWanted) -> MadeVideo:
    """Whichever way is the cheapest that works everywhere; a copy that fails is made anew instead."""
    if probe(Wanted(wanted.source)).may_remux:
        try:
            return remux(wanted)
        except VideoDamaged:
            pass
    return remake(wanted)


def remux(wanted: VideoWanted) -> MadeVideo:
    """Copy pictures and sound into a clean MP4; the turn that the phone wrote down stays."""
    file = Path(wanted.folder) / VIDEO
    first = first_picture(wanted.source)
    with open_video(wanted.source) as opened, new_mp4(file) as out:
        width, height = shown_size(opened, first)
        copy_packets(opened.container, out, list(opened.streams))
    Progress(wanted.progress).report(1)
    return _finished(file, (width, height), is_remuxed=True)


def remake(wanted: VideoWanted) -> MadeVideo:
    """Decode and encode anew, reporting how far it has come."""
    with open_video(wanted.source) as opened:
        video, audio = measure(opened)
    starts = [length.start_s for length in (video, audio) if length.start_s is not None]
    file = Path(wanted.folder) / VIDEO
    size = transcode(
        wanted.source,
        file,
        duration_s=max(video.duration_s, audio.duration_s),
        start_s=min(starts),
        progress=Progress(wanted.progress),
        threads=wanted.threads,
    )
    return _finished(file, size, is_remuxed=False)


def _finished(file: Path, size: tuple[int, int], *, is_remuxed: bool) -> MadeVideo:
    """What we wrote, measured like a stranger's."""
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
        video=made(file),
        playlist=PLAYLIST if segments else None,
        segments=segments,
    )
