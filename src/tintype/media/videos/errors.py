"""How the videos say no."""

from tintype.media.errors import MediaRefused


class VideoRefused(MediaRefused):
    """That video cannot be taken."""

    code = "video_refused"


class VideoUnsupported(VideoRefused):
    """That is not a kind of video we take: send an MP4 or MOV with one picture track."""

    code = "video_unsupported"


class VideoDamaged(VideoRefused):
    """That video is damaged or cut short."""

    code = "video_damaged"


class VideoTooLong(VideoRefused):
    """A video may be 60 seconds long, not more."""

    code = "video_too_long"


class VideoTooLarge(VideoRefused):
    """A video may have 4096 by 2304 pixels, lying or standing, not more."""

    code = "video_too_large"


class VideoWithoutPictures(VideoRefused):
    """There is sound in that file and no picture."""

    code = "video_without_pictures"


class VideoProtected(VideoRefused):
    """That video is locked against copying."""

    code = "video_protected"
