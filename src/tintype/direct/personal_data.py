"""Export and erasure of what the direct room stores about a person.

A person's inbox lists every thread they are or were in; so that is how what lies with threads is found. Erasing leaves
what others wrote to them, which is theirs, and nothing that names the person.
"""

from collections.abc import AsyncIterator

from tintype.base.ids import AccountId
from tintype.base.personal_data import ExportRecord
from tintype.direct.contact import Contact
from tintype.direct.dependencies import DirectDependencies
from tintype.direct.encryption.personal_data import EncryptionPersonalData, encode
from tintype.direct.events import ThreadChanged
from tintype.direct.members import end_membership
from tintype.direct.message_media import MessageMedia
from tintype.direct.models import ThreadId
from tintype.direct.store import QUERIES

BATCH = 100
THREADS_AT_ONCE = 20


class DirectPersonalData:
    """One person's messages, threads and settings."""

    def __init__(
        self,
        deps: DirectDependencies,
        contact: Contact,
        media: MessageMedia,
        encryption: EncryptionPersonalData,
    ) -> None:
        self._shards, self._outbox, self._contact, self._media = deps.shards, deps.outbox, contact, media
        self._encryption = encryption

    async def export(self, account_id: AccountId) -> AsyncIterator[ExportRecord]:
        """Settings, threads, and what the person wrote in each, oldest first."""
        settings = await self._contact.get_settings(account_id)
        content = {"audience": settings.audience, "preview": settings.preview}
        yield ExportRecord("direct_settings.json", content)
        async for record in self._encryption.export(account_id):
            yield record
        home, after = self._shards.owner(account_id), 0
        while rows := await home.fetch(
            QUERIES.page_own_threads, account_id=account_id, after=after, limit=BATCH
        ):
            after = rows[-1]["thread_id"]
            for row in rows:
                async for record in self._export_thread(account_id, ThreadId(row["thread_id"])):
                    yield record

    async def erase(self, account_id: AccountId) -> int:
        """Erase what somebody wrote in some threads, then that they were in them, and at last the settings."""
        home = self._shards.owner(account_id)
        rows = await home.fetch(
            QUERIES.page_own_threads, account_id=account_id, after=0, limit=THREADS_AT_ONCE
        )
        for row in rows:
            await self._erase_in(account_id, ThreadId(row["thread_id"]))
        erased = len(rows) + await self._media.erase(account_id) + await self._encryption.erase(account_id)
        return erased or await home.execute(QUERIES.erase_settings, account_id=account_id)

    async def count_left(self, account_id: AccountId) -> int:
        """How many threads and settings of a person are left."""
        left: int = await self._shards.owner(account_id).fetch_value(
            QUERIES.count_left, account_id=account_id
        )
        return left + await self._encryption.count_left(account_id)

    async def _erase_in(self, account_id: AccountId, thread_id: ThreadId) -> None:
        """Messages in batches, then the rest of one thread, and only then the way to find it."""
        shard, mine = self._shards.owner(thread_id), {"thread_id": thread_id, "account_id": account_id}
        while await shard.fetch(QUERIES.erase_messages, **mine, limit=BATCH):
            pass
        async with shard.begin() as tx:
            if await tx.fetch_one(QUERIES.lock_thread, thread_id=thread_id) is not None:
                await end_membership(tx, thread_id, account_id, "left")
                await tx.execute(QUERIES.erase_member, **mine)
                await self._encryption.erase_in(tx, thread_id, account_id)
                if await tx.execute(QUERIES.delete_empty_thread, thread_id=thread_id):
                    await self._encryption.delete_group(tx, thread_id)
                else:
                    change_id = await tx.fetch_value(QUERIES.touch_thread, thread_id=thread_id)
                    await self._outbox.add(tx, ThreadChanged(thread_id, change_id))
        await self._shards.owner(account_id).execute(QUERIES.erase_inbox, **mine)

    async def _export_thread(self, account_id: AccountId, thread_id: ThreadId) -> AsyncIterator[ExportRecord]:
        shard, mine = self._shards.owner(thread_id), {"thread_id": thread_id, "account_id": account_id}
        thread = await shard.fetch_one(QUERIES.export_thread, **mine)
        if thread is None:
            return
        content = {
            "thread_id": str(thread_id),
            "kind": thread["kind"],
            "is_encrypted": thread["is_encrypted"],
            "name": thread["name"],
            "state": thread["state"],
            "member_ids": [str(each) for each in thread["member_ids"]],
        }
        yield ExportRecord("threads.json", content)
        after = 0
        while rows := await shard.fetch(QUERIES.page_own_messages, **mine, after=after, limit=BATCH):
            after = rows[-1]["id"]
            media = await self._media.find_many([row["media_id"] for row in rows if row["media_id"]])
            for row in rows:
                shown = media.get(row["media_id"])
                message = {
                    "thread_id": str(thread_id),
                    "message_id": str(row["id"]),
                    "kind": row["kind"],
                    "text": row["text"],
                    "ciphertext": encode(row["ciphertext"]) if row["ciphertext"] else None,
                    "media_id": str(row["media_id"]) if row["media_id"] else None,
                    "shared_id": str(row["shared_id"]) if row["shared_id"] else None,
                    "reply_to": str(row["reply_to_id"]) if row["reply_to_id"] else None,
                    "created_at": self._shards.map.layout.id_time(row["id"]).isoformat(),
                    "edited_at": row["edited_at"].isoformat() if row["edited_at"] else None,
                }
                yield ExportRecord("messages.json", message, shown.folder if shown else None)
