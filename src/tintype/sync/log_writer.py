"""The writing side of the update log: append once, then publish to whoever is connected."""

from collections.abc import Iterable, Sequence

import asyncpg
import msgspec
from nats.aio.client import Client
from nats.errors import Error as NatsError

from shardwright.routing import Shard, Shards
from tintype.base.errors import Unavailable
from tintype.base.ids import AccountId, has_shard
from tintype.base.log import get_log
from tintype.base.nats import NatsNames
from tintype.base.shard_groups import run_by_shard
from tintype.sync.errors import UpdateInvalid
from tintype.sync.models import LoggedUpdate, Update
from tintype.sync.store import QUERIES

MAX_KEY, MAX_KIND, MAX_PEOPLE, MAX_PAYLOAD_BYTES = 200, 50, 250, 16_384
ATTEMPTS = 5
"""A repeat meets the same key again only if yet another transaction logged one of the batch meanwhile."""
log = get_log("sync")


class LogWriter:
    """Appends updates to the logs of their accounts, and publishes them."""

    def __init__(self, shards: Shards, nats: Client) -> None:
        self._shards, self._nats = shards, nats

    async def append(self, updates: Iterable[Update], *, are_new: bool = False) -> None:
        """Log updates: one statement per shard, whose failure does not keep the other shards' from being logged."""
        once = {(each.account_id, each.key): each for each in reversed([*updates])}
        known = [each for each in reversed(once.values()) if has_shard(self._shards, each.account_id)]
        for each in known:
            _check(each)

        async def write(shard: Shard, own: Sequence[Update]) -> None:
            await self._append(shard, own, are_new=are_new)

        await run_by_shard(self._shards, known, lambda each: each.account_id, write)

    async def redact(self, updates: Iterable[tuple[AccountId, str]]) -> None:
        """Empty logged updates by account and key; what clients have received already is theirs to drop."""
        known = [each for each in updates if has_shard(self._shards, each[0])]
        await run_by_shard(self._shards, known, lambda each: each[0], self._redact)

    async def _redact(self, shard: Shard, updates: Sequence[tuple[AccountId, str]]) -> None:
        account_ids, keys = zip(*updates, strict=True)
        await shard.execute(QUERIES.redact, account_ids=list(account_ids), keys=list(keys))

    async def _append(self, shard: Shard, updates: Sequence[Update], *, are_new: bool) -> None:
        rows = await self._insert(shard, updates, are_new=are_new)
        for row in sorted(rows, key=lambda row: (row["account_id"], row["seq"])):
            update = LoggedUpdate(row["seq"], row["kind"], row["created_at"], raw(row["payload"]))
            await self._publish(row["account_id"], update)

    async def _insert(
        self, shard: Shard, updates: Sequence[Update], *, are_new: bool
    ) -> list[asyncpg.Record]:
        columns = {
            "account_ids": [each.account_id for each in updates],
            "keys": [each.key for each in updates],
            "kinds": [each.kind for each in updates],
            "people": ["{" + ",".join(map(str, each.people)) + "}" for each in updates],
            "payloads": [msgspec.json.encode(each.payload).decode() for each in updates],
        }
        is_simple = are_new and len(set(columns["account_ids"])) == len(updates)
        for attempt in range(ATTEMPTS):
            query = QUERIES.append_new if is_simple and attempt == 0 else QUERIES.append
            try:
                return await shard.fetch(query, **columns)
            except asyncpg.UniqueViolationError:
                continue  # another transaction has logged one of the keys: the next attempt finds it
        raise Unavailable(shard=shard.number)

    async def _publish(self, account_id: int, update: LoggedUpdate) -> None:
        """Best effort: a client that misses it sees the gap in the numbers, and reads the log."""
        try:
            await self._nats.publish(NatsNames.user(account_id, "updates"), msgspec.json.encode(update))
        except NatsError as error:
            log.warning("update.unpublished", account_id=account_id, error=type(error).__name__)


def raw(payload: str) -> msgspec.Raw:
    """Stored JSON, to be copied into messages and responses as it is."""
    return msgspec.Raw(payload.encode())


def _check(update: Update) -> None:
    size = len(msgspec.json.encode(update.payload))
    is_named = 0 < len(update.key) <= MAX_KEY and 0 < len(update.kind) <= MAX_KIND
    if not is_named or len(update.people) > MAX_PEOPLE or size > MAX_PAYLOAD_BYTES:
        raise UpdateInvalid(kind=update.kind[:MAX_KIND], key_length=len(update.key), size_bytes=size)
