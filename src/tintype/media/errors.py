"""Errors of the media room, as people read them."""

from tintype.base.errors import Conflict, Forbidden, Invalid, NotFound, RateLimited, Unavailable


class MediaRefused(Invalid):
    """That file cannot be used. Send a JPEG, PNG or WebP photo of at most 30 MB and 64 megapixels."""

    code = "media_refused"


class MediaNotFound(NotFound):
    """That photo or video does not exist any more, or you may not see it."""

    code = "media_not_found"


class MediaUnsupported(MediaRefused):
    """That kind of file is not supported. Send a JPEG, PNG, WebP or HEIC photo, or an MP4 or MOV video."""

    code = "media_unsupported"


class MediaTooLarge(MediaRefused):
    """That file is too large. Send a smaller one."""

    code = "media_too_large"


class MediaDimensionsRefused(MediaRefused):
    """Those dimensions are not supported: at most 64 megapixels, 16,384 pixels a side, ten times as long as wide."""

    code = "media_dimensions_refused"


class MediaDimensionsFalse(MediaRefused):
    """That file states dimensions other than its own. Save the photo again and resend it."""

    code = "media_dimensions_false"


class MediaDamaged(MediaRefused):
    """That file is damaged or incomplete. Send it again, or another one."""

    code = "media_damaged"


class MediaAnimated(MediaRefused):
    """Animated images are not supported. Send a still photo, or a video."""

    code = "media_animated"


class MediaDisguised(MediaRefused):
    """That file contains more than a photo. Send the photo alone."""

    code = "media_disguised"


class MediaBomb(MediaRefused):
    """That file expands to far more data than a photo needs, so it was not processed."""

    code = "media_bomb"


class MediaTooSlow(MediaRefused):
    """Processing that file took too long. Try a smaller one."""

    code = "media_too_slow"


class MediaTooCostly(MediaRefused):
    """Processing that file needs too much memory or disk. Try a smaller one."""

    code = "media_too_costly"


class MediaUnavailable(Unavailable):
    """Photos and videos cannot be processed right now. Try again in a moment."""

    code = "media_unavailable"


class EditInvalid(MediaRefused):
    """That edit cannot be read, or names a look that does not exist."""

    code = "edit_invalid"


class ChecksumUnknown(Invalid):
    """Checksums are `sha1` or `sha256`, a space, and the digest in Base64."""

    code = "checksum_unknown"


class MediaStoreUnavailable(Unavailable):
    """The media store does not respond or is full; nothing was stored. Try again in a moment."""

    code = "media_store_unavailable"


class MediaPosted(Conflict):
    """That is part of a post. Delete the post instead."""

    code = "media_posted"


class UploadNotFound(NotFound):
    """There is no such upload; it may have expired. Start again."""

    code = "upload_not_found"


class UploadOffsetWrong(Conflict):
    """The upload has another offset. Ask for it (HEAD) and continue from there."""

    code = "upload_offset_wrong"


class UploadIncomplete(Conflict):
    """Not all bytes of this upload have arrived yet."""

    code = "upload_incomplete"


class ChecksumWrong(Invalid):
    """The bytes that arrived do not match their checksum. Send them again."""

    code = "checksum_wrong"


class PresignedUnavailable(Conflict):
    """Media are not stored in S3 here. Upload through the API instead."""

    code = "presigned_unavailable"


class TooManyUploads(RateLimited):
    """You have too many uploads in progress. Finish or cancel some of them first."""

    code = "too_many_uploads"


class StorageFull(Forbidden):
    """There is no room left for this in your storage. Delete something first, or ask the operator for more."""

    code = "storage_full"


class TooManyVideos(RateLimited):
    """Too many of your videos are still being converted. Wait until some of them are ready."""

    code = "too_many_videos"


class VideoTimeUsedUp(RateLimited):
    """You have uploaded as many minutes of video as a day allows. Try again tomorrow."""

    code = "video_time_used_up"
