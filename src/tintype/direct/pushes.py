"""What pushes of messages need to know: who is to hear of a message, and whether they still are when it is sent."""

from collections.abc import Sequence

from shardwright.routing import Transaction
from tintype.base.ids import AccountId
from tintype.base.shard_groups import read_by_shard
from tintype.direct.contact import Contact
from tintype.direct.dependencies import DirectDependencies
from tintype.direct.errors import MessageNotFound, ThreadNotFound
from tintype.direct.events import MessageSent
from tintype.direct.models import Message, MessageId, MessagePush, Preview, ThreadId
from tintype.direct.reader import ThreadReader
from tintype.direct.store import QUERIES


class MessagePushState:
    """Claims messages for pushes, once per member and message."""

    def __init__(self, deps: DirectDependencies, reader: ThreadReader, contact: Contact) -> None:
        self._shards, self._reader, self._contact = deps.shards, reader, contact

    async def list_recipients(self, events: Sequence[MessageSent]) -> list[MessagePush]:
        """The others in the threads of new messages; of several messages in a thread, the newest."""
        newest: dict[ThreadId, MessageSent] = {}
        for each in sorted((each for each in events if not each.is_change), key=lambda event: event.number):
            newest[each.thread_id] = each
        rows = await read_by_shard(self._shards, QUERIES.gather_memberships, newest)
        return [
            MessagePush(AccountId(row["account_id"]), sent.thread_id, sent.message_id, sent.number)
            for row in rows
            if row["state"] == "active" and row["account_id"] != (sent := newest[row["thread_id"]]).account_id
        ]

    async def claim(self, tx: Transaction, pushes: Sequence[MessagePush]) -> list[MessagePush]:
        """Those that are to be pushed, each once: not seen, muted, archived or blocked, and not pushed before."""
        rows = await tx.fetch(
            QUERIES.claim_pushes,
            account_ids=[each.account_id for each in pushes],
            thread_ids=[each.thread_id for each in pushes],
            numbers=[each.number for each in pushes],
        )
        claimed = {(row["account_id"], row["thread_id"]) for row in rows}
        return [each for each in pushes if (each.account_id, each.thread_id) in claimed]

    async def find(self, push: MessagePush) -> tuple[Message, Preview] | None:
        """The message as it is now, and what the recipient wants to be shown; None where there is nothing to push."""
        try:
            thread = await self._reader.get_row(push.thread_id, push.account_id)
            message = await self._reader.get_message(
                push.thread_id, MessageId(push.message_id), push.account_id
            )
        except (ThreadNotFound, MessageNotFound):
            return None
        if thread["seen_number"] >= push.number or message.kind == "unsent" or message.is_hidden:
            return None
        return message, (await self._contact.get_settings(push.account_id)).preview
