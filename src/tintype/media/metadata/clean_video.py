"""Makes the clean copy of a video, and reads it back with FFmpeg and with the header parser of `videos`."""

import mmap
import shutil
import struct
from pathlib import Path

from av.container import InputContainer

from tintype.media.metadata.models import CleanVideo, CleanVideoRequest, NotCleanable, Removed, in_order
from tintype.media.metadata.mp4 import clean_mp4
from tintype.media.metadata.signs import has_gps_table, names_position
from tintype.media.videos.errors import VideoNotCleanable
from tintype.media.videos.mp4_boxes import header_parts
from tintype.media.videos.open_video import open_video

CONTAINER_KEYS = {"major_brand", "minor_version", "compatible_brands", "creation_time"}
STREAM_KEYS = {"language", "handler_name", "vendor_id", "creation_time", "encoder", "rotate"}


def clean_video(request: CleanVideoRequest) -> CleanVideo:
    """Copy a video without what may hold a location; refuses one in which that fails, or cannot be verified."""
    copy = Path(request.copy)
    shutil.copyfile(request.source, copy)
    try:
        removed = _clean(copy)
        _check(copy)
    except (NotCleanable, struct.error, IndexError, ValueError) as error:
        raise VideoNotCleanable(error=str(error)[:200]) from error
    return CleanVideo(in_order(removed))


def _clean(file: Path) -> set[Removed]:
    with (
        file.open("r+b") as opened,
        mmap.mmap(opened.fileno(), 0) as mapped,
        memoryview(mapped) as content,
    ):
        return clean_mp4(content)


def _check(file: Path) -> None:
    with open_video(str(file)) as opened:
        _check_metadata(opened.container)
    if any(has_gps_table(part) or names_position(part) for part in header_parts(file)):
        raise NotCleanable("signs of a location are left")


def _check_metadata(container: InputContainer) -> None:
    """FFmpeg finds nothing but what every file has, and no stream but video and audio."""
    left = set(container.metadata) - CONTAINER_KEYS
    for stream in container.streams:
        left |= set(stream.metadata) - STREAM_KEYS
        if stream.type not in {"video", "audio"}:
            left.add(stream.type)
    if left:
        raise NotCleanable(f"FFmpeg still finds {min(left)}")
