"""What every change of a thread does in its transaction: lock the thread first, then the membership, and announce."""

from collections.abc import Mapping

import asyncpg

from shardwright.routing import Shard, Shards, Transaction
from tintype.base.ids import AccountId, MediaId
from tintype.base.outbox import Outbox
from tintype.base.text import clean_line
from tintype.direct.encryption.errors import ThreadEncrypted
from tintype.direct.errors import NotAGroup, NotThreadAdmin, ThreadInvalid, ThreadNotFound
from tintype.direct.events import ThreadChanged
from tintype.direct.models import LONGEST_NAME, MemberState, ThreadId
from tintype.direct.store import QUERIES

IN_THREAD: frozenset[MemberState] = frozenset(("active", "requested"))
"""Members who may read a thread."""


def pair_shard(shards: Shards, low: AccountId, high: AccountId) -> Shard:
    """The shard of the thread of two people, the same whichever of them asks."""
    return shards.of(f"pair:{low}:{high}")


def clean_name(name: str) -> str:
    """The name of a group, on one line; empty for none."""
    name = clean_line(name)
    if len(name) > LONGEST_NAME:
        raise ThreadInvalid
    return name


async def lock_as_member(
    tx: Transaction, thread_id: ThreadId, by: AccountId
) -> tuple[asyncpg.Record, asyncpg.Record]:
    """Thread and membership of somebody who is in it, both locked; `ThreadNotFound` for everybody else."""
    thread = await tx.fetch_one(QUERIES.lock_thread, thread_id=thread_id)
    if thread is None or thread["is_blocked"]:
        raise ThreadNotFound
    member = await tx.fetch_one(QUERIES.lock_member, thread_id=thread_id, account_id=by)
    if member is None or member["state"] not in IN_THREAD:
        raise ThreadNotFound
    return thread, member


def check_plain(thread: asyncpg.Record) -> None:
    """Refuse what the server does for plain threads, and only devices can do in encrypted ones."""
    if thread["is_encrypted"]:
        raise ThreadEncrypted


async def lock_as_admin(tx: Transaction, thread_id: ThreadId, by: AccountId) -> asyncpg.Record:
    """A group that `by` is an admin of, locked."""
    thread, member = await lock_as_member(tx, thread_id, by)
    if thread["kind"] != "group":
        raise NotAGroup
    if not member["is_admin"]:
        raise NotThreadAdmin
    return thread


async def add_members(
    tx: Transaction,
    thread_id: ThreadId,
    states: Mapping[AccountId, MemberState],
    *,
    number: int,
    admin: AccountId | None = None,
) -> int:
    """Add people who read from the message after `number` on; returns how many were not in the thread before."""
    rows = await tx.fetch(
        QUERIES.add_members,
        thread_id=thread_id,
        account_ids=list(states),
        states=list(states.values()),
        are_admins=[each == admin for each in states],
        number=number,
    )
    return len(rows)


async def announce(
    tx: Transaction,
    outbox: Outbox,
    thread_id: ThreadId,
    *,
    gone: tuple[AccountId, ...] = (),
    media: tuple[MediaId, ...] = (),
) -> None:
    """Announce a change of the thread, in the transaction that makes it; and who and which media go with it."""
    change_id = await tx.fetch_value(QUERIES.touch_thread, thread_id=thread_id)
    await outbox.add(tx, ThreadChanged(thread_id, change_id, gone, media))
