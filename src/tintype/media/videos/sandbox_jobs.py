"""The video jobs that the sandbox runs; apart from the package itself, which loads no decoder."""

from tintype.media.videos.make_video import make_video, reencode, remux
from tintype.media.videos.poster import make_poster
from tintype.media.videos.probe import probe

__all__ = ["make_poster", "make_video", "probe", "reencode", "remux"]
