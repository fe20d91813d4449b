"""Commits: exactly one per epoch, and the tree and the members of a thread change together (docs/adr/0078).

The server reads what a commit adds and removes, and holds it against its own rows: who is in the thread, whose device a
key package names, who may add and remove people. Devices check the cryptography.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import asyncpg

from shardwright.routing import Transaction
from tintype.accounts import AccountNotFound
from tintype.base.ids import AccountId, has_shard
from tintype.base.log import get_log
from tintype.base.rate_limits import DIRECT_CONTACT, ENCRYPTION_COMMIT
from tintype.direct.contact import Contact
from tintype.direct.dependencies import DirectDependencies
from tintype.direct.encryption.devices import Devices
from tintype.direct.encryption.errors import CommitInvalid, CommitNeeded, EpochTaken
from tintype.direct.encryption.group_rows import (
    add_leaves,
    check_encrypted,
    free_indexes,
    group_id_of,
    list_leaves,
    own_leaf,
)
from tintype.direct.encryption.handshake_format import Commit, read_commit, read_welcome
from tintype.direct.encryption.key_package_format import LeafNode
from tintype.direct.encryption.models import (
    LARGEST_COMMIT,
    LARGEST_WELCOME,
    MAX_LEAVES,
    Committed,
    Leaf,
    NewCommit,
)
from tintype.direct.encryption.store import QUERIES
from tintype.direct.errors import (
    MemberNotFound,
    NotAGroup,
    NotThreadAdmin,
    ThreadNotFound,
    TooManyMembers,
)
from tintype.direct.inbox_feeder import InboxFeeder
from tintype.direct.members import end_membership
from tintype.direct.models import MAX_MEMBERS, MemberState, ThreadId
from tintype.direct.store import QUERIES as THREAD_QUERIES
from tintype.direct.thread_rows import IN_THREAD, add_members, announce, lock_as_admin, lock_as_member

log = get_log("direct")


@dataclass(frozen=True)
class _Change:
    """A commit against the thread that it is for, both read and locked."""

    thread: asyncpg.Record
    given: NewCommit
    commit: Commit
    leaves: dict[int, Leaf]
    removed: frozenset[int]
    proposals: list[bytes]
    """Of others, which it takes up."""


class Commits:
    """Takes commits."""

    def __init__(
        self, deps: DirectDependencies, devices: Devices, contact: Contact, feeder: InboxFeeder
    ) -> None:
        self._shards, self._outbox, self._limiter = deps.shards, deps.outbox, deps.limiter
        self._devices, self._contact, self._feeder = devices, contact, feeder

    async def commit(self, thread_id: ThreadId, by: AccountId, given: NewCommit) -> Committed:
        """Make this the commit of its epoch; `EpochTaken` where another came first. Safe to repeat."""
        commit = read_new_commit(thread_id, given)
        if not has_shard(self._shards, thread_id):
            raise ThreadNotFound
        await self._limiter.acquire(ENCRYPTION_COMMIT, by)
        await self._check_added(commit)
        joining = await self._judge(thread_id, by, given.add_members)
        async with self._shards.owner(thread_id).begin() as tx:
            thread, member = await lock_as_member(tx, thread_id, by)
            check_encrypted(thread)
            if (thread["group_number"], thread["epoch"]) != (given.group_number, given.epoch):
                return await _find_repeated(tx, thread, given)
            change = await _read_change(tx, thread, by, given, commit)
            _check_removed(change, by, is_admin=member["is_admin"])
            await _check_joining(tx, change, joining)
            await _write(tx, change, by, joining)
            await announce(tx, self._outbox, thread_id, gone=given.remove_members)
        await self._feeder.feed_at_once(thread_id)
        log.info("commit.taken", thread_id=thread_id, epoch=given.epoch)
        return Committed(given.epoch + 1, thread["last_number"])

    async def _check_added(self, commit: Commit) -> None:
        """Refuse leaves that are not devices of the people they name, with the keys that those registered."""
        leaves = [each.leaf for each in commit.adds]
        keys = await self._devices.find_keys([each.device_id for each in leaves])
        if any(keys.get(each.device_id) != (each.account_id, each.signature_key) for each in leaves):
            raise CommitInvalid

    async def _judge(
        self, thread_id: ThreadId, by: AccountId, account_ids: Sequence[AccountId]
    ) -> dict[AccountId, MemberState]:
        """How new people come into the group; nothing is said about them to somebody who is not its admin."""
        if not account_ids:
            return {}
        if not all(has_shard(self._shards, each) for each in account_ids):
            raise AccountNotFound
        async with self._shards.owner(thread_id).begin() as tx:
            await lock_as_admin(tx, thread_id, by)
        await self._limiter.acquire(DIRECT_CONTACT, by)
        judged = await self._contact.judge(by, account_ids)
        if len(judged) < len(set(account_ids)):
            raise AccountNotFound
        return judged


def read_new_commit(thread_id: ThreadId, given: NewCommit) -> Commit:
    """What a commit changes; refused where it is for another group or epoch, or its welcome is for others."""
    if len(given.content) > LARGEST_COMMIT or len(given.welcome or b"") > LARGEST_WELCOME:
        raise CommitInvalid
    commit = read_commit(given.content)
    if (
        commit.header.group_id != group_id_of(thread_id, given.group_number)
        or commit.header.epoch != given.epoch
    ):
        raise CommitInvalid
    welcomed = read_welcome(given.welcome) if given.welcome is not None else []
    if sorted(welcomed) != sorted(each.reference for each in commit.adds):
        raise CommitInvalid
    return commit


async def _find_repeated(tx: Transaction, thread: asyncpg.Record, given: NewCommit) -> Committed:
    """The answer to a commit that was taken before; anything else comes too late."""
    row = await tx.fetch_one(
        QUERIES.find_commit, thread_id=thread["id"], group_number=given.group_number, epoch=given.epoch
    )
    if row is None or row["device_id"] != given.device_id or row["content"] != given.content:
        raise EpochTaken
    return Committed(given.epoch + 1, row["number"])


async def _read_change(
    tx: Transaction, thread: asyncpg.Record, by: AccountId, given: NewCommit, commit: Commit
) -> _Change:
    leaves = {each.leaf_index: each for each in await list_leaves(tx, thread["id"])}
    sender = own_leaf(leaves.values(), by, given.device_id)
    path = commit.path_leaf
    if commit.header.leaf_index != sender.leaf_index or (path is not None and not _is_same(path, sender)):
        raise CommitInvalid
    rows = await tx.fetch(QUERIES.list_proposals, thread_id=thread["id"])
    proposed: dict[bytes, int] = {row["reference"]: row["leaf_index"] for row in rows}
    if any(each not in proposed for each in commit.references):
        raise CommitInvalid
    removed = [*commit.removes, *(proposed[each] for each in commit.references)]
    if len(set(removed)) < len(removed) or not set(removed) <= leaves.keys() - {sender.leaf_index}:
        raise CommitInvalid
    taken = [row["content"] for row in rows if row["reference"] in commit.references]
    return _Change(thread, given, commit, leaves, frozenset(removed), taken)


def _is_same(path: LeafNode, leaf: Leaf) -> bool:
    return (path.account_id, path.device_id, path.signature_key) == (
        leaf.account_id,
        leaf.device_id,
        leaf.signature_key,
    )


def _check_removed(change: _Change, by: AccountId, *, is_admin: bool) -> None:
    """Everybody who is gone is removed by the next commit; other leaves only with their owner, by an admin."""
    gone = {index for index, leaf in change.leaves.items() if leaf.is_gone}
    if not gone <= change.removed:
        raise CommitNeeded
    dismissed = set(change.given.remove_members)
    if dismissed:
        if change.thread["kind"] != "group":
            raise NotAGroup
        if not is_admin:
            raise NotThreadAdmin
    theirs = {index for index, leaf in change.leaves.items() if leaf.account_id in dismissed}
    if by in dismissed or set(change.removed) != gone | theirs:
        raise CommitInvalid


async def _check_joining(tx: Transaction, change: _Change, joining: Mapping[AccountId, MemberState]) -> None:
    """New leaves are devices of members, or of people who join by this very commit, each once."""
    added = [each.leaf for each in change.commit.adds]
    left = [leaf for index, leaf in change.leaves.items() if index not in change.removed]
    devices = [each.device_id for each in (*left, *added)]
    if len(set(devices)) < len(devices) or len(devices) > MAX_LEAVES:
        raise CommitInvalid
    rows = await tx.fetch(THREAD_QUERIES.list_members, thread_id=change.thread["id"])
    present = {
        AccountId(row["account_id"])
        for row in rows
        if row["state"] in IN_THREAD or change.thread["kind"] == "pair"
    }
    if not set(change.given.remove_members) <= present:
        raise MemberNotFound
    staying = present - set(change.given.remove_members)
    named = {each.account_id for each in added}
    if not named <= staying | joining.keys() or not joining.keys() <= named or joining.keys() & staying:
        raise CommitInvalid


async def _write(
    tx: Transaction, change: _Change, by: AccountId, joining: Mapping[AccountId, MemberState]
) -> None:
    """Tree, members, commit and epoch, together."""
    thread_id, given = ThreadId(change.thread["id"]), change.given
    for each in given.remove_members:
        await end_membership(tx, thread_id, each, "removed")
    if joining:
        await add_members(tx, thread_id, joining, number=change.thread["last_number"])
        if await tx.fetch_value(THREAD_QUERIES.count_members, thread_id=thread_id) > MAX_MEMBERS:
            raise TooManyMembers
    await tx.execute(QUERIES.delete_leaves, thread_id=thread_id, leaf_indexes=sorted(change.removed))
    places = free_indexes([*(change.leaves.keys() - change.removed)], len(change.commit.adds))
    added = [
        (each.leaf.account_id, each.leaf.device_id, each.leaf.signature_key) for each in change.commit.adds
    ]
    await add_leaves(tx, thread_id, dict(zip(places, added, strict=True)), epoch=given.epoch + 1)
    await tx.execute(
        QUERIES.add_commit,
        thread_id=thread_id,
        group_number=given.group_number,
        epoch=given.epoch,
        account_id=by,
        device_id=given.device_id,
        number=change.thread["last_number"],
        content=given.content,
        proposals=change.proposals,
        welcome=given.welcome,
    )
    await tx.execute(QUERIES.advance_epoch, thread_id=thread_id, epoch=given.epoch + 1)
