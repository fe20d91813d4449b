"""How the posts room says no."""

from tintype.base.errors import Conflict, Forbidden, Invalid, NotFound, RateLimited


class PostNotFound(NotFound):
    """That post is gone, or you may not see it."""

    code = "post_not_found"


class NotYourPost(Forbidden):
    """Only its author may do that to a post."""

    code = "not_your_post"


class CaptionTooLong(Invalid):
    """A caption has at most 2,200 characters."""

    code = "caption_too_long"


class TextInvalid(Invalid):
    """That text holds a character that cannot be stored, such as NUL."""

    code = "text_invalid"


class TooManyHashtags(Invalid):
    """A caption has at most 30 hashtags."""

    code = "too_many_hashtags"


class TooManyMentions(Invalid):
    """A caption mentions at most 30 people."""

    code = "too_many_mentions"


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
    """Tag at most 20 people, each once per photo, at places between 0 and 1 of its width and height."""

    code = "tags_invalid"


class TaggedUserNotFound(Invalid):
    """Somebody you tagged does not exist, or you may not tag them."""

    code = "tagged_user_not_found"


class TaggedUserBlockedYou(Forbidden):
    """Somebody you tagged does not want to be tagged by you."""

    code = "tagged_user_blocked_you"


class TooManyPinned(Conflict):
    """At most 3 posts can be pinned; unpin one first."""

    code = "too_many_pinned"


class PostArchived(Conflict):
    """Take the post out of the archive first."""

    code = "post_archived"


class IdempotencyKeyReused(Conflict):
    """That Idempotency-Key came with a different post before; use a new one for each post."""

    code = "idempotency_key_reused"


class TooManyPosts(RateLimited):
    """You have posted as much as one may in a day."""

    code = "too_many_posts"
