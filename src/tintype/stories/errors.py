"""How the stories room says no."""

from tintype.base.errors import Forbidden, Invalid, NotFound, RateLimited
from tintype.posts import IdempotencyKeyReused


class StoryNotFound(NotFound):
    """That story is over or gone, or you may not see it."""

    code = "story_not_found"


class StoryMediaInvalid(Invalid):
    """A story needs one photo or clip that you uploaded as a story within the last 24 hours and have not used yet."""

    code = "story_media_invalid"


class StoryInvalid(Invalid):
    """A story has at most 500 characters of text, 1,000 of alt text, and 20 people, each once, inside the picture."""

    code = "story_invalid"


class MentionedUserNotFound(Invalid):
    """Somebody you mentioned does not exist, or you may not mention them."""

    code = "mentioned_user_not_found"


class TooManyStories(RateLimited):
    """You have shown as many stories as one may in a day."""

    code = "too_many_stories"


class StoryKeyReused(IdempotencyKeyReused):
    """That Idempotency-Key came with something else before; use a new one each time."""


class ReactionInvalid(Invalid):
    """That is not one of the reactions one can choose from."""

    code = "reaction_invalid"


class ReplyInvalid(Invalid):
    """A reply has 1 to 1,000 characters."""

    code = "reply_invalid"


class RepliesOff(Forbidden):
    """The author takes no replies to this story."""

    code = "replies_off"


class OwnStory(Forbidden):
    """That is for other people's stories."""

    code = "own_story"


class HighlightNotFound(NotFound):
    """That highlight is gone, or you may not see it."""

    code = "highlight_not_found"


class HighlightInvalid(Invalid):
    """A highlight has a title of 1 to 30 characters, and its order names each of its items once."""

    code = "highlight_invalid"


class HighlightFull(Invalid):
    """There are at most 100 highlights, with at most 100 stories each."""

    code = "highlight_full"


class HighlightEmpty(Invalid):
    """A highlight holds at least one story; delete it instead."""

    code = "highlight_empty"
