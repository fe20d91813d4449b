"""The door for the sandbox: the jobs by the names it knows, apart from the room's door, which loads no decoder."""

from tintype.media.videos.making import make_video, remake, remux
from tintype.media.videos.measure import probe
from tintype.media.videos.poster import make_poster

__all__ = ["make_poster", "make_video", "probe", "remake", "remux"]
