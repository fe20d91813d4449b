"""The video jobs that the sandbox runs; apart from the package itself, which loads no decoder.

A job can open no file but its own. So what the library would load when it first needs it is loaded with this module.
"""

from tintype.media.metadata.clean_video import clean_video
from tintype.media.sandbox import load_encodings, load_package
from tintype.media.videos.make_video import make_video, reencode, remux
from tintype.media.videos.poster import make_poster
from tintype.media.videos.probe import probe

load_package("av")
load_encodings()

__all__ = ["clean_video", "make_poster", "make_video", "probe", "reencode", "remux"]
