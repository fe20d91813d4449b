"""Replies to stories: each also becomes a message in the thread of the two, once."""

from tintype.accounts import AccountNotFound
from tintype.base.log import get_log
from tintype.direct.errors import MayNotWrite, RecipientUnavailable, RequestPending, ThreadNotFound
from tintype.direct.models import Draft
from tintype.direct.send import Sender
from tintype.direct.threads import Threads
from tintype.stories import StoryReplied

REFUSALS = (AccountNotFound, MayNotWrite, RecipientUnavailable, RequestPending, ThreadNotFound)
log = get_log("direct")


class StoryReplies:
    """Delivers replies to stories."""

    def __init__(self, threads: Threads, sender: Sender) -> None:
        self._threads, self._sender = threads, sender

    async def on_replied(self, event: StoryReplied) -> None:
        """Add the reply to the thread of the two; where its author may not write to the other, there is no message."""
        draft = Draft(text=event.text, story_id=event.story_id, answers_story=True)
        try:
            thread_id = await self._threads.open_pair(event.account_id, event.author_id, is_counted=False)
            await self._sender.deliver(
                thread_id, event.account_id, draft, local_id=f"story-reply-{event.reply_id}"
            )
        except REFUSALS as refusal:
            log.info("story_reply.undelivered", reply_id=event.reply_id, code=refusal.code)
