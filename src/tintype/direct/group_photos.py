"""The photo of a group: a file of the admin who set it, open to members by signed links alone.

As with photos in messages, the file lies with whoever uploaded it and is attached there first; then the thread names
it. One that the thread does not name is deleted: by the change that replaces it, by that change's event, or by the
sweep of media. When its uploader's account goes, the photo goes with it.
"""

from tintype.base.ids import AccountId, MediaId, has_shard
from tintype.base.log import get_log
from tintype.direct.dependencies import DirectDependencies
from tintype.direct.errors import ThreadNotFound
from tintype.direct.inbox_feeder import InboxFeeder
from tintype.direct.message_media import MessageMedia
from tintype.direct.models import ThreadId
from tintype.direct.store import QUERIES
from tintype.direct.thread_rows import announce, check_plain, lock_as_admin

log = get_log("direct")


class GroupPhotos:
    """Sets and removes the photos of groups."""

    def __init__(self, deps: DirectDependencies, media: MessageMedia, feeder: InboxFeeder) -> None:
        self._shards, self._outbox = deps.shards, deps.outbox
        self._media, self._feeder = media, feeder

    async def set(self, thread_id: ThreadId, by: AccountId, media_id: MediaId) -> None:
        """Show an upload of the admin's as the group's photo, and delete the one before; safe to repeat."""
        if not has_shard(self._shards, thread_id):
            raise ThreadNotFound
        async with self._shards.owner(thread_id).begin() as tx:
            check_plain(await lock_as_admin(tx, thread_id, by))  # before an upload is used up
        await self._media.attach_photo(thread_id, by, media_id)
        await self._replace(thread_id, by, media_id)
        await self._media.confirm(by, media_id)
        log.info("thread.photo_set", thread_id=thread_id)

    async def remove(self, thread_id: ThreadId, by: AccountId) -> None:
        """Show no photo, and delete the one that was shown; as an admin."""
        if not has_shard(self._shards, thread_id):
            raise ThreadNotFound
        await self._replace(thread_id, by, None)

    async def _replace(self, thread_id: ThreadId, by: AccountId, media_id: MediaId | None) -> None:
        async with self._shards.owner(thread_id).begin() as tx:
            before = (await lock_as_admin(tx, thread_id, by))["photo_id"]
            if before == media_id:
                return
            await tx.execute(QUERIES.set_thread_photo, thread_id=thread_id, photo_id=media_id)
            gone = (MediaId(before),) if before is not None else ()
            await announce(tx, self._outbox, thread_id, media=gone)
        await self._media.remove(gone)
        await self._feeder.feed_at_once(thread_id)
