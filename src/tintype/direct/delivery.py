"""Delivery right after the commit: the process that sends writes the inboxes and update logs of a small thread itself.

The event's handler would do the same some 100 ms later, since relay and handlers collect what comes in under load. It
remains the net: whatever fails here, or is not begun because the process dies, it does from what the thread says then.

What is to be written on a shard waits while a batch of that shard is being written, and is then one statement with all
that has come in meanwhile. So a message that is alone waits for nothing, the busier a shard is the less each message
costs, and a shard that does not answer holds up only messages for its own people. A process that is at its limit writes
inboxes alone: the handler writes update logs in larger batches, which is cheaper, and nobody gains by haste then.
"""

import asyncio
from collections.abc import Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass

import asyncpg

from shardwright.routing import Shard
from tintype.base.batch_loader import BatchLoader
from tintype.base.bounded_map import BoundedMap
from tintype.base.ids import AccountId
from tintype.base.log import get_log
from tintype.base.shard_groups import group_by_shard
from tintype.direct.dependencies import DirectDependencies
from tintype.direct.inbox_feeder import InboxFeeder
from tintype.direct.models import QUICK_MEMBERS, MessageId, ThreadId
from tintype.direct.updates import UpdateFanOut

REMEMBERED = 20_000
BUSY = 16
"""With so many deliveries under way a process is at its limit: a worker carries out twice as many commands at once."""
log = get_log("direct")


@dataclass(frozen=True, eq=False)
class ShardDelivery:
    """A message for those members of its thread whose accounts are on one shard."""

    message: asyncpg.Record
    member_ids: Sequence[AccountId]
    told_ids: Sequence[AccountId]
    """Those whose update logs are written."""


class MessageDelivery:
    """Delivers messages to the members of their threads, in batches by shard."""

    def __init__(self, deps: DirectDependencies, feeder: InboxFeeder, updates: UpdateFanOut) -> None:
        self._shards, self._feeder, self._updates = deps.shards, feeder, updates
        self._writers: dict[int, BatchLoader[ShardDelivery, bool]] = {}
        self._delivered: BoundedMap[MessageId, bool] = BoundedMap(REMEMBERED)
        self._under_way: dict[MessageId, asyncio.Future[None]] = {}

    async def finish(self, message_ids: Iterable[MessageId]) -> None:
        """Wait until this process delivers none of these messages any more: under load their events come sooner."""
        under_way = [self._under_way[each] for each in message_ids if each in self._under_way]
        if under_way:
            await asyncio.wait(under_way)

    def is_delivered(self, message_id: MessageId) -> bool:
        """Whether this process has delivered a message to everybody: the event's handler need not do it again."""
        return message_id in self._delivered

    async def deliver(self, message: asyncpg.Record) -> None:
        """Bring a new message into inboxes and update logs, and to connected devices, unless the thread is large.

        Never raises: the message is committed, and what is missing is written by the event's handler.
        """
        await self._try(message["id"], self._deliver(message))

    async def deliver_stored(self, thread_id: ThreadId, message_id: MessageId) -> None:
        """`deliver` for a message that its sender has not at hand as it was stored."""

        async def read_and_deliver() -> bool:
            found = await self._updates.read({message_id: thread_id})
            return bool(found) and not found[0]["is_blocked"] and await self._deliver(found[0])

        await self._try(message_id, read_and_deliver())

    async def _try(self, message_id: MessageId, delivery: Coroutine[None, None, bool]) -> None:
        ended = self._under_way[message_id] = asyncio.get_running_loop().create_future()
        try:
            is_delivered = await delivery
        except Exception as error:  # noqa: BLE001 - whatever it is, the sender is told that the message is stored
            log.warning("message.postponed", message_id=message_id, error=str(error) or type(error).__name__)
        else:
            if is_delivered:
                self._delivered[message_id] = True
        finally:
            del self._under_way[message_id]
            ended.set_result(None)

    async def _deliver(self, message: asyncpg.Record) -> bool:
        if len(message["member_ids"]) > QUICK_MEMBERS:
            return False
        is_busy = len(self._under_way) > BUSY
        told = set[AccountId]() if is_busy else await self._find_readers(message)
        parts = [
            (shard, ShardDelivery(message, own, [each for each in own if each in told]))
            for shard, own in group_by_shard(self._shards, message["member_ids"], int)
        ]
        ended = await asyncio.gather(
            *(self._writer(shard).load(part) for shard, part in parts), return_exceptions=True
        )
        failed = [each for each in ended if isinstance(each, BaseException)]
        if failed:
            raise failed[0]
        return all(ended) and not is_busy

    async def _find_readers(self, message: asyncpg.Record) -> set[AccountId]:
        """The members whom no block parts from the author."""
        parted = await self._updates.find_parted([message])
        return {each for each in message["member_ids"] if (message["account_id"], each) not in parted}

    def _writer(self, shard: Shard) -> BatchLoader[ShardDelivery, bool]:
        """What writes to a shard, one batch at a time: devices hear of messages in the order of their commits."""
        found = self._writers.get(shard.number)
        if found is None:

            async def write(batch: Sequence[ShardDelivery]) -> Mapping[ShardDelivery, bool]:
                return await self._write(shard, batch)

            found = self._writers[shard.number] = BatchLoader(write, in_flight=1)
        return found

    async def _write(self, shard: Shard, batch: Sequence[ShardDelivery]) -> Mapping[ShardDelivery, bool]:
        """Inboxes first: who hears of a message and looks finds it there. Says whether everybody had an inbox row."""
        touched = await self._feeder.touch(shard, [(each.message, each.member_ids) for each in batch])
        told = [(each.message, each.told_ids) for each in batch if each.told_ids]
        if told:
            await self._updates.append(told, are_new=True)
        return {
            each: all((member, each.message["thread_id"]) in touched for member in each.member_ids)
            for each in batch
        }
