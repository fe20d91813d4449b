"""Post signals: counts and new comments of the posts on somebody's screen, while they look.

A device names its posts with the command `watch`. Changes are gathered for a moment and told together, at most about
twice a second per process; what a watcher may see is asked anew each time. A signal is stored nowhere.
"""

import asyncio
import time
from typing import Annotated, Any

import msgspec
from nats.aio.client import Client
from nats.errors import Error as NatsError

from tintype.base.background_tasks import BackgroundTasks
from tintype.base.ids import AccountId, CommentId, IdText, PostId
from tintype.base.nats import NatsNames
from tintype.comments import CommentAdded, Comments
from tintype.posts import Post, Posts
from tintype.realtime.commands import Command
from tintype.realtime.post_watchers import WATCH_S, PostWatchers

MAX_WATCHED = 20
MAX_COMMENTS = 20
"""In one signal; the count says how many there are."""
GATHER_S = 0.05
PAUSE_S = 0.5
BREAK = 4
"""Telling may take a fifth of a process: it is followed by a pause of so many times its duration."""


class WatchPostsPayload(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The posts on a device's screen, instead of those it named before; sent again every minute to go on."""

    post_ids: Annotated[list[IdText], msgspec.Meta(max_length=MAX_WATCHED)]
    device_id: Annotated[str, msgspec.Meta(max_length=64)] = ""


class NewComment(msgspec.Struct, frozen=True):
    """A comment that was just added."""

    comment_id: str
    account_id: str
    username: str


class PostSignal(msgspec.Struct, frozen=True):
    """Counts of a post that is watched have changed. `like_count` is null where the author does not show it."""

    post_id: str
    like_count: int | None
    comment_count: int
    comments: list[NewComment]


class PostSignals:
    """Tells those who watch a post of its changes."""

    def __init__(self, nats: Client, watchers: PostWatchers, posts: Posts, comments: Comments) -> None:
        self._nats, self._watchers = nats, watchers
        self._posts, self._comments = posts, comments
        self._changed: dict[PostId, list[CommentId]] = {}
        self._is_telling = False
        self._tasks = BackgroundTasks()

    async def watch(self, command: Command) -> dict[str, Any]:
        """Carry out the command `watch`: the counts now, of the posts that may be seen, and changes from now on.

        Watched first, and counted then: a change between the two is told. Who may see what is asked with every signal.
        """
        payload = msgspec.convert(command.payload, WatchPostsPayload)
        ids = dict.fromkeys(PostId(int(each)) for each in payload.post_ids)
        await self._watchers.replace(command.account_id, payload.device_id, ids)
        visible = await self._posts.find_many(ids, viewer=command.account_id)
        return {
            "posts": [msgspec.to_builtins(_signal(each, [])) for each in visible.values()],
            "for_s": WATCH_S,
        }

    async def on_counts_changed(self, post_id: PostId) -> None:
        """Tell of a post's counts soon."""
        self._changed.setdefault(post_id, [])
        self._tell_soon()

    async def on_comment_added(self, added: CommentAdded) -> None:
        """Tell of a new comment soon."""
        self._changed.setdefault(added.post_id, []).append(added.comment_id)
        self._tell_soon()

    async def drain(self) -> None:
        """Tell at once what has changed, and wait for what is being told."""
        await self._tell()
        await self._tasks.drain()

    def _tell_soon(self) -> None:
        if not self._is_telling:
            self._is_telling = True
            asyncio.get_running_loop().call_later(GATHER_S, self._tasks.start, self._tell_then_pause)

    async def _tell_then_pause(self) -> None:
        started = time.monotonic()
        try:
            await self._tell()
        finally:
            pause_s = max(PAUSE_S, BREAK * (time.monotonic() - started))
            asyncio.get_running_loop().call_later(pause_s, self._end_pause)

    def _end_pause(self) -> None:
        self._is_telling = False
        if self._changed:
            self._tell_soon()

    async def _tell(self) -> None:
        changed, self._changed = self._changed, {}
        for watcher, ids in (await self._watchers.find(changed)).items():
            for signal in await self._signals(watcher, {each: changed[each] for each in ids}):
                try:
                    await self._nats.publish(NatsNames.user(watcher, "posts"), msgspec.json.encode(signal))
                except NatsError:
                    return  # nobody hears anything at the moment

    async def _signals(self, watcher: AccountId, changed: dict[PostId, list[CommentId]]) -> list[PostSignal]:
        """What the watcher may see of the changes, by now."""
        posts = await self._posts.find_many(changed, viewer=watcher)
        latest = {each: changed[each][-MAX_COMMENTS:] for each in posts}
        wanted = [each for some in latest.values() for each in some]
        shown = await self._comments.find_many(wanted, viewer=watcher) if wanted else {}
        return [
            _signal(
                post,
                [
                    NewComment(str(each), str(author.id), author.username)
                    for each in latest[post.id]
                    if each in shown and (author := shown[each].author) is not None
                ],
            )
            for post in posts.values()
        ]


def _signal(post: Post, comments: list[NewComment]) -> PostSignal:
    return PostSignal(str(post.id), post.like_count, post.comment_count, comments)
