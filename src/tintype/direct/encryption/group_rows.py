"""Rows of a thread's MLS group, in transactions that hold the thread."""

from collections.abc import Iterable, Sequence

import asyncpg

from shardwright.routing import Transaction
from tintype.base.ids import AccountId
from tintype.direct.encryption.errors import DeviceNotInGroup, ThreadNotEncrypted
from tintype.direct.encryption.models import DeviceId, Leaf, MemberDevice
from tintype.direct.encryption.store import QUERIES
from tintype.direct.models import ThreadId


def group_id_of(thread_id: ThreadId, group_number: int) -> bytes:
    """The MLS group id of a thread's group: another one each time a group is begun anew."""
    return f"{thread_id}.{group_number}".encode()


def check_encrypted(thread: asyncpg.Record) -> None:
    """Refuse what only encrypted threads have."""
    if not thread["is_encrypted"]:
        raise ThreadNotEncrypted


async def begin_group(tx: Transaction, thread_id: ThreadId, device: MemberDevice) -> int:
    """Begin the thread's next group with one device as its only leaf; returns its number."""
    number: int = await tx.fetch_value(QUERIES.begin_group, thread_id=thread_id)
    await tx.execute(QUERIES.clear_tree, thread_id=thread_id)
    await add_leaves(tx, thread_id, {0: (device.account_id, device.id, device.signature_key)}, epoch=0)
    return number


async def list_leaves(tx: Transaction, thread_id: ThreadId) -> list[Leaf]:
    """The tree of a thread's group."""
    return [Leaf(**row) for row in await tx.fetch(QUERIES.list_leaves, thread_id=thread_id)]


async def add_leaves(
    tx: Transaction,
    thread_id: ThreadId,
    leaves: dict[int, tuple[AccountId, DeviceId, bytes]],
    *,
    epoch: int,
) -> None:
    """Add devices at their places in the tree, which they read from this epoch on."""
    await tx.execute(
        QUERIES.add_leaves,
        thread_id=thread_id,
        leaf_indexes=list(leaves),
        account_ids=[account_id for account_id, _, _ in leaves.values()],
        device_ids=[device_id for _, device_id, _ in leaves.values()],
        signature_keys=[key for _, _, key in leaves.values()],
        added_epoch=epoch,
    )


def own_leaf(leaves: Iterable[Leaf], account_id: AccountId, device_id: DeviceId) -> Leaf:
    """The leaf of somebody's device that may speak in the group."""
    for each in leaves:
        if each.device_id == device_id and each.account_id == account_id and not each.is_gone:
            return each
    raise DeviceNotInGroup


def free_indexes(taken: Sequence[int], count: int) -> list[int]:
    """Where new leaves go: MLS takes the leftmost empty place each time (RFC 9420, section 12.1.1)."""
    used, found, index = set(taken), list[int](), 0
    while len(found) < count:
        if index not in used:
            found.append(index)
        index += 1
    return found
