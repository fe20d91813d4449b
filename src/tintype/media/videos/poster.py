"""Extracts a poster: the video's first frame, or a later one where the first is blank."""

from pathlib import Path

import numpy as np
from av.video.frame import VideoFrame
from PIL import Image

from tintype.media.videos.errors import VideoDamaged
from tintype.media.videos.filter_graph import FilterGraph, fit
from tintype.media.videos.models import Poster, PosterRequest
from tintype.media.videos.mp4_boxes import check_size
from tintype.media.videos.open_video import SourceVideo, open_video
from tintype.media.videos.probe import decode_frames, shown_size

QUALITY = 85
SHORTER, LONGER = 1080, 1920
THUMB = 100
MAX_FRAMES_TRIED = 45
"""Frames: a second and a half, the length of a usual fade from black."""
BLANK = 8.0
"""Standard deviation of brightness, out of 255, below which a frame counts as blank."""


def make_poster(request: PosterRequest) -> Poster:
    """Write the poster as a JPEG without any metadata."""
    with open_video(request.source) as opened:
        frame = _choose(opened)
        size = fit(shown_size(opened, frame), SHORTER, LONGER)
        # The better HDR tone mapping takes 6 s to prepare, this one 0.2 s, and somebody is waiting for the poster.
        graph = FilterGraph(opened, frame, size, kind="rgb24", intent="saturation")
        shown = next(iter([*graph.push(frame), *graph.push(None)]), None)
        if shown is None:
            raise VideoDamaged(frames=0)
        picture = Image.fromarray(shown.to_ndarray())
    picture.save(Path(request.poster), "JPEG", quality=QUALITY, progressive=True)
    thumb = picture.copy()
    thumb.thumbnail((THUMB, THUMB))
    return Poster(*picture.size, *thumb.size, thumb.tobytes())


def _choose(opened: SourceVideo) -> VideoFrame:
    first: VideoFrame | None = None
    for _, frame in zip(range(MAX_FRAMES_TRIED), decode_frames(opened), strict=False):
        check_size(frame.width, frame.height)
        first = first or frame
        if not _is_blank(frame):
            return frame
    if first is None:
        raise VideoDamaged(frames=0)
    return first


def _is_blank(frame: VideoFrame) -> bool:
    small = frame.reformat(64, 64, "gray").to_ndarray()
    return float(np.std(small)) < BLANK
