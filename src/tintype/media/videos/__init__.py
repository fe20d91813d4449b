"""Videos: pure jobs on files, for the sandbox: measure, take a still, make ready for people.

Only MP4 and MOV, at most a minute and 4K. Outputs are H.264 and AAC in MP4, with a playlist for longer ones. The
library that decodes is under the LGPL and carries encoders under the GPL; it runs in the jobs' own processes.
"""

from tintype.media.videos.errors import (
    VideoDamaged,
    VideoProtected,
    VideoRefused,
    VideoTooLarge,
    VideoTooLong,
    VideoUnsupported,
    VideoWithoutPictures,
)
from tintype.media.videos.models import Clip, Made, MadeVideo, Poster, PosterWanted, VideoWanted, Wanted
from tintype.media.videos.progress import read_progress

__all__ = [
    "Clip",
    "Made",
    "MadeVideo",
    "Poster",
    "PosterWanted",
    "VideoDamaged",
    "VideoProtected",
    "VideoRefused",
    "VideoTooLarge",
    "VideoTooLong",
    "VideoUnsupported",
    "VideoWanted",
    "VideoWithoutPictures",
    "Wanted",
    "read_progress",
]
