"""What people look at: posts on their screen, profiles they visit, and what other rooms tell of messages."""

import time
from collections.abc import Sequence

from redis.exceptions import RedisError

from tintype.base.errands import Errands
from tintype.base.ids import AccountId, PostId
from tintype.base.limits import Limiter, Rule
from tintype.base.log import get_log
from tintype.posts import Posts
from tintype.ranking.examples import Examples
from tintype.ranking.hearing import Hearing
from tintype.ranking.models import LONG_MS, Act, ActKind, Impression
from tintype.ranking.notes import Notes

log = get_log("ranking")
SEEN_RULE = Rule("ranking-seen", 120, 60.0)
LONGEST_MS = 600_000
"""A post that is looked at for longer was left open."""
MOST_LINGERED = 20
"""More posts than this are not looked at for long between two reports."""
VISIT_EVERY_S = 600
MOST_VISITS_HERE = 10_000


class Looking:
    """Notes what is looked at; the notes may be lost, the one who looks never waits for more than the limits."""

    def __init__(
        self,
        posts: Posts,
        notes: Notes,
        limiter: Limiter,
        *,
        hearing: Hearing,
        examples: Examples,
        errands: Errands,
    ) -> None:
        self._posts, self._notes, self._limiter = posts, notes, limiter
        self._hearing, self._examples, self._errands = hearing, examples, errands
        self._visits: dict[tuple[AccountId, AccountId], int] = {}

    async def see(self, viewer: AccountId, impressions: Sequence[Impression]) -> None:
        """These posts were on the viewer's screen: they sink. What the viewer may not see does not count."""
        await self._limiter.take(SEEN_RULE, viewer)
        longest: dict[PostId, int] = {}
        for each in impressions:
            spent_ms = min(each.spent_ms, LONGEST_MS)
            longest[each.post_id] = max(longest.get(each.post_id, 0), spent_ms)
        found = await self._posts.find_many(longest, viewer=viewer)
        spent = {post_id: longest[post_id] for post_id in longest if post_id in found}
        try:
            await self._notes.see(viewer, list(spent))
            lingered = [post_id for post_id, spent_ms in spent.items() if spent_ms > LONG_MS]
            for post_id in lingered[:MOST_LINGERED]:
                await self._linger(viewer, post_id, found[post_id].author_id)
            await self._examples.see(viewer, spent)
        except (RedisError, OSError) as error:
            log.warning("ranking.unseen", error=str(error))

    def visit(self, viewer: AccountId, author: AccountId) -> None:
        """The viewer looked at somebody's profile; once in ten minutes counts, and nobody waits for it."""
        bucket = int(time.time()) // VISIT_EVERY_S
        if viewer == author or self._visits.get((viewer, author)) == bucket:
            return
        if len(self._visits) >= MOST_VISITS_HERE:
            self._visits.clear()
        self._visits[viewer, author] = bucket
        act = Act(
            viewer_id=viewer,
            kind="visit",
            object_id=author * 1_000_003 + bucket,
            change_id=self._notes.change_at(bucket * VISIT_EVERY_S),
            author_id=author,
        )
        self._errands.start(lambda: self._hearing.hear(act))

    async def note_message(self, sender: AccountId, recipient: AccountId, message_id: int) -> None:
        """Somebody wrote to somebody, once for each message."""
        await self._hearing.hear(_towards(sender, recipient, "message", message_id))

    async def note_story_view(self, viewer: AccountId, author: AccountId, story_id: int) -> None:
        """Somebody watched a story, once for each story."""
        await self._hearing.hear(_towards(viewer, author, "story_view", story_id))

    async def note_share(
        self, viewer: AccountId, post_id: PostId, author: AccountId, message_id: int
    ) -> None:
        """Somebody sent a post on."""
        act = Act(
            viewer_id=viewer,
            kind="share",
            object_id=message_id,
            change_id=message_id,
            author_id=author,
            post_id=post_id,
        )
        await self._hearing.hear(act)

    async def _linger(self, viewer: AccountId, post_id: PostId, author: AccountId) -> None:
        act = Act(
            viewer_id=viewer,
            kind="linger",
            object_id=post_id,
            change_id=self._notes.change_at(int(time.time())),
            author_id=author,
            post_id=post_id,
        )
        await self._hearing.hear(act)


def _towards(viewer: AccountId, author: AccountId, kind: ActKind, number: int) -> Act:
    return Act(viewer_id=viewer, kind=kind, object_id=number, change_id=number, author_id=author)
