"""Errors of the posts room."""

from tintype.base.errors import Conflict, Forbidden, Invalid, NotFound, RateLimited


class PostNotFound(NotFound):
    """That post is gone, or you may not see it."""

    code = "post_not_found"


class NotYourPost(Forbidden):
    """Only the author of a post can do that."""

    code = "not_your_post"


class CaptionTooLong(Invalid):
    """A caption can have at most 2,200 characters. Shorten it and try again."""

    code = "caption_too_long"


class TooManyHashtags(Invalid):
    """A caption can have at most 30 hashtags."""

    code = "too_many_hashtags"


class MediaInvalid(Invalid):
    """A post needs 1 to 10 photos that you uploaded within the last 24 hours and have not posted yet."""

    code = "media_invalid"


class AltTextInvalid(Invalid):
    """Give at most one alt text per photo, each of at most 1,000 characters."""

    code = "alt_text_invalid"


class PlaceInvalid(Invalid):
    """A place has an id, a name of at most 200 characters, and either both coordinates or none."""

    code = "place_invalid"


class TagsInvalid(Invalid):
    """Tag at most 20 people, each once per photo, at positions between 0 and 1 of its width and height."""

    code = "tags_invalid"


class TaggedUserNotFound(Invalid):
    """Someone you tagged does not exist, or you cannot tag them."""

    code = "tagged_user_not_found"


class TaggedUserBlockedYou(Forbidden):
    """Someone you tagged does not want to be tagged by you."""

    code = "tagged_user_blocked_you"


class TooManyPinnedPosts(Conflict):
    """You can pin at most 3 posts. Unpin one first."""

    code = "too_many_pinned"


class PostArchived(Conflict):
    """The post is archived. Take it out of the archive first."""

    code = "post_archived"


class IdempotencyKeyReused(Conflict):
    """That Idempotency-Key was used for a different post. Use a new key for each post."""

    code = "idempotency_key_reused"


class TooManyPosts(RateLimited):
    """You have reached the number of posts for one day. Try again later."""

    code = "too_many_posts"


class ScheduledPostNotFound(NotFound):
    """There is no such scheduled post: it was published or cancelled."""

    code = "scheduled_post_not_found"


class ScheduledPostPublished(Conflict):
    """That post has been published already."""

    code = "scheduled_post_published"


class PublishTimeInvalid(Invalid):
    """Choose a time within the next year."""

    code = "publish_time_invalid"


class TooManyScheduledPosts(Conflict):
    """You can schedule at most 100 posts, and no more within 24 hours than you can publish in a day."""

    code = "too_many_scheduled"
