"""Errors of videos, as people read them."""

from tintype.media.errors import MediaRefused


class VideoRefused(MediaRefused):
    """That video cannot be used."""

    code = "video_refused"


class VideoUnsupported(VideoRefused):
    """That kind of video is not supported. Send an MP4 or MOV with one video track."""

    code = "video_unsupported"


class VideoDamaged(VideoRefused):
    """That video is damaged or incomplete. Send it again, or another one."""

    code = "video_damaged"


class VideoTooLong(VideoRefused):
    """Videos can be at most 60 seconds long."""

    code = "video_too_long"


class VideoTooLarge(VideoRefused):
    """Videos can have at most 4096 by 2304 pixels, landscape or portrait."""

    code = "video_too_large"


class VideoWithoutPictures(VideoRefused):
    """That file has sound but no video."""

    code = "video_without_pictures"


class VideoProtected(VideoRefused):
    """That video is copy-protected and cannot be used."""

    code = "video_protected"


class VideoNotCleanable(VideoRefused):
    """The location in that video cannot be removed. Export it again without its location, or upload it to keep it."""

    code = "video_not_cleanable"
