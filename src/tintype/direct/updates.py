"""What members' devices are told of, through everybody's update log: messages, changes of them, seen markers, threads.

Only the update of a new message carries its text. Everything else names what has changed, and clients ask for it: so
taking a message back has one place in each log to empty.
"""

import base64
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import asyncpg
import msgspec

from shardwright.routing import Shard
from tintype.base.ids import AccountId
from tintype.base.shard_groups import read_by_shard, run_by_shard
from tintype.direct.dependencies import DirectDependencies
from tintype.direct.events import MessageChanged, MessageSent, ThreadChanged, ThreadSeen
from tintype.direct.models import MessageId, ThreadId
from tintype.direct.search_index import SearchIndex
from tintype.direct.store import QUERIES
from tintype.direct.thread_rows import IN_THREAD
from tintype.sync import Update

REDACTED = "redacted"
"""The kind of an update that was emptied."""
LONGEST_LOGGED_BYTES = 12_000
"""A longer text, which takes many control characters, or ciphertext is left for clients to fetch."""


class UpdateFanOut:
    """Appends to the update logs of members."""

    def __init__(self, deps: DirectDependencies, index: SearchIndex) -> None:
        self._deps, self._shards, self._sync, self._index = deps, deps.shards, deps.sync, index

    async def on_sent(
        self, events: Sequence[MessageSent], *, is_delivered: Callable[[MessageId], bool]
    ) -> None:
        """Index new messages, and tell everybody in the thread of those that were not delivered at once."""
        rows = await self.read({each.message_id: each.thread_id for each in events})
        await self._index.add(rows)
        left = [row for row in rows if not row["is_blocked"] and not is_delivered(row["id"])]
        parted = await self.find_parted(left)
        await self.append(
            (row, [each for each in row["member_ids"] if (row["account_id"], each) not in parted])
            for row in left
        )

    async def append(
        self, messages: Iterable[tuple[asyncpg.Record, Sequence[AccountId]]], *, are_new: bool = False
    ) -> None:
        """Tell people of messages; `are_new` where probably nobody has told them yet."""
        await self._sync.append(
            [
                Update(member_id, message_key(row["id"]), "direct.message", _show(row), (row["account_id"],))
                for row, member_ids in messages
                for member_id in member_ids
            ],
            are_new=are_new,
        )

    async def on_changed(self, events: Sequence[MessageChanged]) -> None:
        """Tell everybody that messages have changed; what the logs held of them before is emptied."""
        rows = {
            row["id"]: row for row in await self.read({each.message_id: each.thread_id for each in events})
        }
        await self._index.add([*rows.values()])
        known = [(each, rows[each.message_id]) for each in events if each.message_id in rows]
        taken = await self._redact(
            [row for _, row in known if row["edited_at"] is not None or row["kind"] == "unsent"]
        )
        await self._sync.append(
            [
                *taken,
                *(
                    Update(
                        member_id,
                        f"direct-change:{event.message_id}:{event.change_id}",
                        "direct.message_changed",
                        {"thread_id": str(event.thread_id), "message_id": str(event.message_id)},
                    )
                    for event, row in known
                    for member_id in row["member_ids"]
                ),
            ]
        )

    async def _redact(self, rewritten: Sequence[asyncpg.Record]) -> list[Update]:
        """Empty what logs hold of messages, also those of people who have left since.

        Returns updates to append: a delivery that has read a message before may be under way, and finds the key taken.
        """
        everybody: dict[ThreadId, list[AccountId]] = {}
        ids = {row["thread_id"] for row in rewritten}
        for row in await read_by_shard(self._shards, QUERIES.gather_everybody, ids):
            everybody.setdefault(row["thread_id"], []).append(row["account_id"])
        await self._sync.redact(
            [
                (each, message_key(row["id"]))
                for row in rewritten
                for each in everybody.get(row["thread_id"], [])
            ]
        )
        return [
            Update(each, message_key(row["id"]), REDACTED, {})
            for row in rewritten
            for each in row["member_ids"]
        ]

    async def on_thread_changed(self, events: Sequence[ThreadChanged]) -> None:
        """Tell everybody in a thread, and those who have just left it, that it has changed."""
        members = await self._members(each.thread_id for each in events)
        await self._sync.append(
            [
                Update(
                    member_id,
                    f"direct-thread:{event.thread_id}:{event.change_id}",
                    "direct.thread",
                    {"thread_id": str(event.thread_id)},
                )
                for event in events
                for member_id in {*members.get(event.thread_id, {}), *event.gone_ids}
            ]
        )

    async def on_seen(self, events: Sequence[ThreadSeen]) -> None:
        """Tell everybody in a thread how far somebody has read; of requests only the reader's own devices."""
        members = await self._members(each.thread_id for each in events)
        updates: list[Update] = []
        for event in events:
            states = members.get(event.thread_id, {})
            is_open = states.get(event.account_id) == "active"
            key = f"direct-seen:{event.thread_id}:{event.account_id}:{event.number}"
            payload = {
                "thread_id": str(event.thread_id),
                "account_id": str(event.account_id),
                "number": event.number,
            }
            told = states if is_open else [event.account_id]
            updates += [Update(each, key, "direct.seen", payload, (event.account_id,)) for each in told]
        await self._sync.append(updates)

    async def read(self, messages: dict[MessageId, ThreadId]) -> list[asyncpg.Record]:
        """Messages as they are now, each with the members who may read it."""
        rows: list[asyncpg.Record] = []

        async def read(shard: Shard, own: list[MessageId]) -> None:
            rows.extend(
                await shard.fetch(
                    QUERIES.gather_messages,
                    thread_ids=[messages[each] for each in own],
                    message_ids=own,
                )
            )

        await run_by_shard(self._shards, messages, int, read)
        return rows

    async def _members(self, thread_ids: Iterable[ThreadId]) -> dict[ThreadId, dict[AccountId, str]]:
        found: dict[ThreadId, dict[AccountId, str]] = {}
        for row in await read_by_shard(self._shards, QUERIES.gather_memberships, set(thread_ids)):
            if row["state"] in IN_THREAD:
                found.setdefault(row["thread_id"], {})[row["account_id"]] = row["state"]
        return found

    async def find_parted(self, rows: Iterable[asyncpg.Record]) -> set[tuple[AccountId, AccountId]]:
        """Authors and members of groups with a block between them, from each author's shard."""
        members: dict[AccountId, set[AccountId]] = {}
        for row in rows:
            if row["thread_kind"] == "group":
                members.setdefault(row["account_id"], set()).update(row["member_ids"])
        parted: set[tuple[AccountId, AccountId]] = set()
        for author_id, others in members.items():
            relations = await self._deps.graph.relations(author_id, others)
            parted |= {(author_id, each) for each, relation in relations.items() if relation.has_block}
        return parted


def message_key(message_id: int) -> str:
    """The key under which logs hold a message."""
    return f"direct-message:{message_id}"


def _show(row: asyncpg.Record) -> dict[str, Any]:
    text: str = row["text"]
    return {
        "thread_id": str(row["thread_id"]),
        "message_id": str(row["id"]),
        "number": row["number"],
        "account_id": str(row["account_id"]),
        "kind": row["kind"],
        "text": text if len(msgspec.json.encode(text)) <= LONGEST_LOGGED_BYTES else None,
        "reply_to_id": str(row["reply_to_id"]) if row["reply_to_id"] else None,
        **(_show_sealed(row) if row["ciphertext"] is not None else {}),
    }


def _show_sealed(row: asyncpg.Record) -> dict[str, Any]:
    ciphertext = base64.urlsafe_b64encode(row["ciphertext"]).decode().rstrip("=")
    return {
        "ciphertext": ciphertext if len(ciphertext) <= LONGEST_LOGGED_BYTES else None,
        "epoch": row["epoch"],
        "device_id": str(row["sender_device_id"]),
        "has_attachment": row["media_id"] is not None,
    }
