"""How the library says no: the store, and uploads that go wrong."""

from tintype.base.errors import Conflict, Invalid, NotFound, RateLimited, Unavailable


class MediaStoreUnavailable(Unavailable):
    """The place that keeps media does not answer or is full; nothing was stored. Try again in a moment."""

    code = "media_store_unavailable"


class MediaPosted(Conflict):
    """That is part of a post; delete the post instead."""

    code = "media_posted"


class UploadNotFound(NotFound):
    """There is no such upload; it may have expired. Begin again."""

    code = "upload_not_found"


class UploadOffsetWrong(Conflict):
    """The upload does not stand at that offset; ask where it stands (HEAD) and go on from there."""

    code = "upload_offset_wrong"


class UploadIncomplete(Conflict):
    """Not all bytes of this upload have arrived yet."""

    code = "upload_incomplete"


class ChecksumWrong(Invalid):
    """The bytes that arrived do not match their checksum; send them again."""

    code = "checksum_wrong"


class PresignedUnavailable(Conflict):
    """Media are not kept in an S3 store here; upload through the API instead."""

    code = "presigned_unavailable"


class TooManyUploads(RateLimited):
    """You have too many uploads under way; finish or end some of them first."""

    code = "too_many_uploads"
