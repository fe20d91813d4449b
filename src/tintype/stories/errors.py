"""Why the stories room refuses a request."""

from tintype.base.errors import Forbidden, Invalid, NotFound, RateLimited
from tintype.posts import IdempotencyKeyReused


class StoryNotFound(NotFound):
    """That story has ended or was removed, or you may not see it."""

    code = "story_not_found"


class StoryMediaInvalid(Invalid):
    """A story needs one photo or clip that you uploaded as a story within the last 24 hours and have not used yet."""

    code = "story_media_invalid"


class StoryInvalid(Invalid):
    """A story has at most 500 characters of text, 1,000 of alt text, and 20 people, each once, inside the picture."""

    code = "story_invalid"


class ElementsInvalid(Invalid):
    """A story has at most 40 elements within 64 KB, one poll with different choices, one countdown within 90 days."""

    code = "story_elements_invalid"


class SharedPostNotFound(Invalid):
    """That post does not exist, you may not see it, or its author does not allow sharing it to stories."""

    code = "shared_post_not_found"


class StickerNotFound(NotFound):
    """The story has no such sticker."""

    code = "sticker_not_found"


class ChoiceInvalid(Invalid):
    """That is not one of the poll's choices."""

    code = "choice_invalid"


class AnswerInvalid(Invalid):
    """An answer needs 1 to 300 characters."""

    code = "answer_invalid"


class CountdownOver(Invalid):
    """That countdown has ended already."""

    code = "countdown_over"


class MentionedUserNotFound(Invalid):
    """Somebody you mentioned does not exist, or you may not mention them."""

    code = "mentioned_user_not_found"


class TooManyStories(RateLimited):
    """You have published as many stories as allowed in one day; try again later."""

    code = "too_many_stories"


class StoryKeyReused(IdempotencyKeyReused):
    """That Idempotency-Key was used for a different request; use a new key for each one."""


class ReactionInvalid(Invalid):
    """That is not one of the available reactions."""

    code = "reaction_invalid"


class ReplyInvalid(Invalid):
    """A reply needs 1 to 1,000 characters."""

    code = "reply_invalid"


class RepliesOff(Forbidden):
    """The author has turned off replies to this story."""

    code = "replies_off"


class OwnStory(Forbidden):
    """You can't react, reply, vote or answer to your own story."""

    code = "own_story"


class HighlightNotFound(NotFound):
    """That highlight was deleted, or you may not see it."""

    code = "highlight_not_found"


class HighlightInvalid(Invalid):
    """A highlight has a title of 1 to 30 characters, and its order names each of its items once."""

    code = "highlight_invalid"


class HighlightFull(Invalid):
    """You can have at most 100 highlights, with at most 100 stories each."""

    code = "highlight_full"


class HighlightEmpty(Invalid):
    """A highlight needs at least one story; delete the highlight instead."""

    code = "highlight_empty"
