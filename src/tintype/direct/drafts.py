"""Drafts of messages: what can be sent at all, and how it is stored."""

import msgspec

from tintype.base.text import clean_text
from tintype.direct.errors import MessageInvalid
from tintype.direct.models import LONGEST_MESSAGE, Draft, MessageKind


def check_draft(draft: Draft) -> Draft:
    """The draft with its text cleaned; refused without a text and anything to share, and with two things to share."""
    text = clean_text(draft.text)
    shared = [each for each in (draft.media_id, draft.post_id, draft.story_id) if each is not None]
    if len(text) > LONGEST_MESSAGE or len(shared) > 1 or not (text or shared):
        raise MessageInvalid
    return msgspec.structs.replace(draft, text=text)


def kind_of(draft: Draft) -> MessageKind:
    """What kind of message a draft becomes."""
    if draft.media_id is not None:
        return "voice" if draft.is_voice else "media"
    if draft.post_id is not None:
        return "post"
    if draft.story_id is not None:
        return "story_reply" if draft.answers_story else "story"
    return "text"


def shared_id_of(draft: Draft) -> int | None:
    """The post or story that a draft shares."""
    return draft.post_id or draft.story_id
