"""The transactional outbox: an event is stored in the transaction that makes it true, and published afterwards.

The row is in the server's `common.outbox`, in the same transaction as the write on the shard, so neither can exist
without the other. After the commit a best-effort poke over NATS wakes the relay of that server; when the poke is lost,
the relay's slow poll finds the row. PostgreSQL's own NOTIFY is avoided on purpose: it takes a lock over the whole
database cluster at every commit (see docs/adr/0010).
"""

from collections.abc import Awaitable, Callable

from shardwright.routing import Transaction
from tintype.base.events import Event
from tintype.base.log import current_request_id
from tintype.base.store import QUERIES

Poke = Callable[[str], Awaitable[None]]
"""Wakes the relay of the server named."""


class Outbox:
    """Stores events inside the caller's transaction and wakes the relay once it has committed."""

    def __init__(self, poke: Poke) -> None:
        self._poke = poke

    async def add(self, tx: Transaction, *events: Event) -> None:
        """Publish events if, and only if, this transaction commits."""
        request_id = current_request_id()
        names = [event.name for event in events]
        payloads = [event.encode() for event in events]
        await tx.execute(QUERIES.add_events, events=names, payloads=payloads, request_id=request_id)
        tx.after_commit(self._poke)
