"""Photos, videos and voices in messages: files of the sender's, open to those who get a link as members of the thread.

The files lie with the sender, the message with the thread. So media are attached first, on the sender's shard, under
the local id of the message, and the message is sent after that: sending again finds them attached. A message without
its media cannot exist; media without a message are deleted after a day. A signed link works while they are attached.
"""

from collections.abc import Sequence

import asyncpg

from shardwright.routing import Shard, Transaction
from tintype.base.ids import AccountId, MediaId, has_shard
from tintype.base.log import get_log
from tintype.base.shard_groups import gather_rows, run_by_shard
from tintype.direct.dependencies import DirectDependencies
from tintype.direct.encryption.attachments import Attachments
from tintype.direct.errors import MessageMediaInvalid
from tintype.direct.models import ThreadId, VoiceMessage
from tintype.direct.store import QUERIES
from tintype.media import MediaType
from tintype.posts import PostMedia

BATCH = 100
PHOTO = "photo:"
"""What stands for the local id of a group's photo; no device's own id has a colon."""
log = get_log("direct")


class MessageMedia:
    """Attaches media to messages, and deletes them with their message."""

    def __init__(self, deps: DirectDependencies, attachments: Attachments) -> None:
        self._shards, self._media, self._attachments = deps.shards, deps.media, attachments

    async def attach(
        self,
        thread_id: ThreadId,
        by: AccountId,
        media_id: MediaId,
        local_id: str,
        *,
        only_photos: bool = False,
    ) -> MediaType:
        """Attach an upload of the sender's to a message that is about to be sent; safe to repeat. Says what it is."""
        if not has_shard(self._shards, media_id):
            raise MessageMediaInvalid
        wanted = {"media_id": media_id, "account_id": by, "thread_id": thread_id, "local_id": local_id}
        async with self._shards.owner(by).begin() as tx:
            earlier = await tx.fetch_one(QUERIES.find_attached, **wanted)
            if earlier is not None:
                return earlier["type"]
            attached = await self._media.attach(tx, by, [media_id], to=thread_id, with_voice=True)
            if not attached or (only_photos and attached[0].type != "image"):
                raise MessageMediaInvalid
            await tx.execute(QUERIES.add_attached, **wanted)
        return attached[0].type

    async def attach_photo(self, thread_id: ThreadId, by: AccountId, media_id: MediaId) -> None:
        """Attach a photo of an admin's that the group is about to show; safe to repeat."""
        await self.attach(thread_id, by, media_id, f"{PHOTO}{media_id}", only_photos=True)

    async def confirm(self, by: AccountId, media_id: MediaId) -> None:
        """The message is sent: its media stay until it goes."""
        await self._shards.owner(by).execute(QUERIES.confirm_attached, media_id=media_id)

    async def find_many(self, ids: Sequence[MediaId]) -> dict[int, PostMedia | VoiceMessage]:
        """Media of messages, from their senders' shards; those that are deleted are missing."""
        rows = await gather_rows(self._shards, QUERIES.gather_media, list(ids)) if ids else ()
        return {row["media_id"]: _read(row) for row in rows}

    async def find_photos(self, ids: Sequence[MediaId | None]) -> dict[int | None, PostMedia]:
        """Photos of groups, of those that have one."""
        found = await self.find_many([each for each in ids if each is not None])
        return {each: shown for each, shown in found.items() if isinstance(shown, PostMedia)}

    async def remove(self, media_ids: Sequence[MediaId]) -> None:
        """Delete media and encrypted files for everybody at once, and their files soon after; safe to repeat.

        Those that were reported are closed to everybody but moderators, and deleted when their case is closed.
        """
        if media_ids:
            await run_by_shard(self._shards, media_ids, int, self._remove)

    async def hold(self, media_ids: Sequence[MediaId], case_key: str) -> None:
        """Keep media for a case, though their message may go; safe to repeat."""

        async def hold(shard: Shard, own: list[MediaId]) -> None:
            await shard.execute(QUERIES.hold_media, media_ids=own, case_key=case_key)

        if media_ids:
            await run_by_shard(self._shards, media_ids, int, hold)

    async def release(self, owner_id: AccountId, case_key: str) -> None:
        """The case is closed: media whose message is gone are deleted; safe to repeat."""
        if has_shard(self._shards, owner_id):
            home = self._shards.owner(owner_id)
            rows = await home.fetch(QUERIES.release_media, account_id=owner_id, case_key=case_key)
            await self.remove([MediaId(row["media_id"]) for row in rows])

    async def list_held(self) -> list[tuple[AccountId, str]]:
        """For which cases media are kept, and whose."""
        found = await self._shards.everywhere().fetch(QUERIES.list_held, limit=BATCH)
        return [(AccountId(row["account_id"]), row["case_key"]) for row in found.rows]

    async def sweep(self) -> None:
        """Delete media that no message and no group shows; keep those whose sender died before it could say so."""
        for number in sorted(self._shards.map.owners):
            shard = self._shards.shard(number)
            for row in await shard.fetch(QUERIES.list_unconfirmed, limit=BATCH):
                media_id, is_shown = MediaId(row["media_id"]), await self._is_shown(row)
                if is_shown:
                    await self.confirm(AccountId(row["account_id"]), media_id)
                else:
                    await self.remove([media_id])
                log.info("message_media.settled", media_id=media_id, is_sent=is_shown)

    async def _is_shown(self, attached: asyncpg.Record) -> bool:
        """Whether the message was sent, or the group shows the photo."""
        thread_id, local_id = attached["thread_id"], attached["local_id"]
        shard = self._shards.owner(thread_id)
        if local_id.startswith(PHOTO):
            named = {"thread_id": thread_id, "photo_id": attached["media_id"]}
            return await shard.fetch_one(QUERIES.names_photo, **named) is not None
        sent = {"thread_id": thread_id, "account_id": attached["account_id"], "local_id": local_id}
        return await shard.fetch_one(QUERIES.find_mutation, **sent) is not None

    async def erase(self, account_id: AccountId) -> int:
        """Delete a batch of somebody's media in messages; returns how many."""
        rows = await self._shards.owner(account_id).fetch(
            QUERIES.list_attached, account_id=account_id, limit=BATCH
        )
        ids = [MediaId(row["media_id"]) for row in rows]
        if ids:
            await run_by_shard(self._shards, ids, int, self._delete)
        return len(rows)

    async def _remove(self, shard: Shard, media_ids: list[MediaId]) -> None:
        async def remove(tx: Transaction) -> None:
            held = {
                MediaId(row["media_id"]) for row in await tx.fetch(QUERIES.close_held, media_ids=media_ids)
            }
            await self._media.change_visibility(tx, list(held))
            await self._delete_in(tx, [each for each in media_ids if each not in held])

        await shard.transact(remove)

    async def _delete(self, shard: Shard, media_ids: list[MediaId]) -> None:
        """Delete media whoever keeps them: their owner's account goes."""

        async def delete(tx: Transaction) -> None:
            await self._delete_in(tx, media_ids)

        await shard.transact(delete)

    async def _delete_in(self, tx: Transaction, media_ids: list[MediaId]) -> None:
        if media_ids:
            await tx.execute(QUERIES.delete_attached, media_ids=media_ids)
            await self._media.delete_in(tx, media_ids)
            await self._attachments.remove_in(tx, media_ids)


def _read(row: asyncpg.Record) -> PostMedia | VoiceMessage:
    if row["type"] == "audio":
        return VoiceMessage(row["media_id"], row["folder"], row["duration_ms"], row["waveform"])
    return PostMedia(**{name: value for name, value in row.items() if name != "waveform"}, alt_text="")
