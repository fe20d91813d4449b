"""Videos: sandbox jobs that probe a file, extract a poster, and convert it for browsers.

Only MP4 and MOV, at most a minute and 4K. Outputs are H.264 and AAC in MP4, with an HLS playlist for longer ones. The
decoding library is under the LGPL and carries encoders under the GPL; it runs in the jobs' own processes.
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
from tintype.media.videos.models import (
    Clip,
    MadeVideo,
    OutputFile,
    Poster,
    PosterRequest,
    ProbeRequest,
    VideoRequest,
)
from tintype.media.videos.progress_file import read_progress

__all__ = [
    "Clip",
    "MadeVideo",
    "OutputFile",
    "Poster",
    "PosterRequest",
    "ProbeRequest",
    "VideoDamaged",
    "VideoProtected",
    "VideoRefused",
    "VideoRequest",
    "VideoTooLarge",
    "VideoTooLong",
    "VideoUnsupported",
    "VideoWithoutPictures",
    "read_progress",
]
