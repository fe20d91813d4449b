"""A still that stands for the video: its first picture, or a later one where the first is blank."""

from pathlib import Path

import numpy as np
from av.video.frame import VideoFrame
from PIL import Image

from tintype.media.videos.boxes import check_size
from tintype.media.videos.errors import VideoDamaged
from tintype.media.videos.graph import PictureGraph, fit
from tintype.media.videos.measure import decoded, shown_size
from tintype.media.videos.models import Poster, PosterWanted
from tintype.media.videos.opening import Opened, open_video

QUALITY = 85
SHORTER, LONGER = 1080, 1920
THUMB = 100
LOOK_AHEAD = 45
"""Pictures: a second and a half, the length of a usual fade from black."""
BLANK = 8.0
"""How little brightness varies over a blank picture, in steps of 255."""


def make_poster(wanted: PosterWanted) -> Poster:
    """Write the poster as a JPEG without any metadata."""
    with open_video(wanted.source) as opened:
        frame = _choose(opened)
        size = fit(shown_size(opened, frame), SHORTER, LONGER)
        # The finer way of mapping HDR takes 6 s to prepare; this one 0.2 s, for one picture that people wait for.
        graph = PictureGraph(opened, frame, size, kind="rgb24", intent="saturation")
        shown = next(iter([*graph.push(frame), *graph.push(None)]), None)
        if shown is None:
            raise VideoDamaged(frames=0)
        picture = Image.fromarray(shown.to_ndarray())
    picture.save(Path(wanted.poster), "JPEG", quality=QUALITY, progressive=True)
    thumb = picture.copy()
    thumb.thumbnail((THUMB, THUMB))
    return Poster(*picture.size, *thumb.size, thumb.tobytes())


def _choose(opened: Opened) -> VideoFrame:
    first: VideoFrame | None = None
    for _, frame in zip(range(LOOK_AHEAD), decoded(opened), strict=False):
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
