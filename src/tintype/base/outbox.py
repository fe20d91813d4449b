"""The transactional outbox: an event is stored in the transaction that makes it true, and published afterwards.

The row is in the server's `common.outbox`, in the same transaction as the write on the shard, so neither can exist
without the other. After the commit a best-effort poke over NATS wakes the relay of that server; when the poke is lost,
the relay's slow poll finds the row. PostgreSQL's own NOTIFY is avoided on purpose: it takes a lock over the whole
database cluster at every commit (see docs/adr/0010).
"""

from collections.abc import Awaitable, Callable
from functools import cache
from typing import Any, TypedDict

import msgspec

from shardwright.routing import Shard, Transaction
from tintype.base.events import Event
from tintype.base.log import current_request_id, get_log
from tintype.base.store import QUERIES

log = get_log("outbox")
Poke = Callable[[str], Awaitable[None]]
"""Wakes the relay of the server named."""


class PreparedEvent(TypedDict):
    """Parameters of a statement that inserts an outbox row itself, beside the rows that make the event true."""

    event: str
    payload: str
    """JSON up to the colon of its last field, whose number the statement appends, and then a closing brace."""
    request_id: str


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

    def prepare(
        self, event: type[Event], /, *, last: str = "change_id", more: tuple[str, ...] = (), **fields: Any
    ) -> PreparedEvent:
        """An event for a statement that stores it itself, in one round trip with what makes it true.

        The statement knows the field `last`, a number that it makes (a change id, the id of a new row), and appends it:

            INSERT INTO common.outbox (event, payload, request_id)
            SELECT :event, convert_to(:payload || changed.change_id || '}', 'UTF8'), :request_id FROM changed

        Where it knows `more` fields, it appends those after it: `|| ',"author_id":' || changed.author_id || '}'`.
        Call `wake` when the statement has returned.
        """
        _check_fields(event, frozenset({*fields, *more}), last)
        known = msgspec.json.encode(fields).decode()[:-1]
        comma = "," if fields else ""
        return PreparedEvent(
            event=event.name, payload=f'{known}{comma}"{last}":', request_id=current_request_id()
        )

    async def wake(self, shard: Shard) -> None:
        """Wake the relay of a shard's server, after a statement on that shard has stored an event by itself.

        The write stands whatever happens here: without the poke, the relay's poll finds the row.
        """
        try:
            await self._poke(shard.server)
        except Exception:
            log.exception("poke.failed", shard=shard.number)


@cache
def _check_fields(event: type[Event], given: frozenset[str], last: str) -> None:
    """Raise TypeError unless these fields and the last one are what the event needs."""
    fields = msgspec.structs.fields(event)
    unknown = {*given, last} - {field.name for field in fields}
    missing = {field.name for field in fields if field.required} - {*given, last}
    if unknown or missing or last in given:
        raise TypeError(
            f"{event.__name__}: unknown fields {sorted(unknown)}, missing fields {sorted(missing)}; "
            f"the statement itself appends {last}"
        )
