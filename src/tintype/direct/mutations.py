"""The contract for changes that devices make: each once, forever, and in the order in which the device made them.

A device numbers the changes it makes in a thread: 1, 2, 3 … A change is accepted if it is the next one. A later one is
refused (`EarlierMissing`) until the earlier has arrived. One that was accepted before, known by its local id, is
answered with what became of it the first time. A change that was refused has used no number.
"""

import re

from shardwright.routing import Transaction
from tintype.base.ids import AccountId
from tintype.direct.errors import CounterUsed, EarlierMissing, MutationInvalid
from tintype.direct.models import LONGEST_LOCAL_ID, MessageId, Mutation, Sent, ThreadId
from tintype.direct.store import QUERIES

_NAME = re.compile(rf"[A-Za-z0-9._-]{{1,{LONGEST_LOCAL_ID}}}", re.ASCII)
LARGEST_COUNTER = 2**53 - 1


def check_mutation(mutation: Mutation) -> None:
    """Refuse ids that cannot be stored, and counts that no device has."""
    has_names = _NAME.fullmatch(mutation.device_id) and _NAME.fullmatch(mutation.local_id)
    if not has_names or not 1 <= mutation.counter <= LARGEST_COUNTER:
        raise MutationInvalid


def check_local_id(local_id: str) -> None:
    """Refuse a local id that cannot be stored."""
    if not _NAME.fullmatch(local_id):
        raise MutationInvalid


async def find_earlier(
    tx: Transaction, thread_id: ThreadId, by: AccountId, mutation: Mutation
) -> Sent | None:
    """The message that this very change made or changed, if it was accepted before; the thread is locked."""
    row = await tx.fetch_one(
        QUERIES.find_mutation, thread_id=thread_id, account_id=by, local_id=mutation.local_id
    )
    return Sent(MessageId(row["message_id"]), row["number"]) if row is not None else None


async def advance(tx: Transaction, thread_id: ThreadId, by: AccountId, mutation: Mutation) -> None:
    """Count a new change of a device, or refuse it if it is not the device's next."""
    device = {"thread_id": thread_id, "account_id": by, "device_id": mutation.device_id}
    if await tx.fetch_one(QUERIES.advance_device, **device, counter=mutation.counter) is not None:
        return
    known: int = await tx.fetch_value(QUERIES.find_counter, **device) or 0
    raise CounterUsed if mutation.counter <= known else EarlierMissing


async def record(
    tx: Transaction, thread_id: ThreadId, by: AccountId, mutation: Mutation, result: Sent
) -> None:
    """Keep what became of a change."""
    await tx.execute(
        QUERIES.record_mutation,
        thread_id=thread_id,
        account_id=by,
        local_id=mutation.local_id,
        message_id=result.message_id,
        number=result.number,
    )
