"""What ties a person to others and to posts: follows, mutes, blocks, likes, what is saved.

The rows lie on the person's own shard and belong to several rooms. A reader who keeps what it has made of them must
learn of every change. So whoever changes such a row says so here, after the commit and before the answer, by writing
to a name in Redis that means nothing else; whoever keeps something has read that name, and is told (`near.py`).

A process that dies between its commit and saying so is made good by the handler of its event. What has no event, and
what was changed by hand, is noticed when that which was kept is too old: nobody may keep it for longer than `KEPT_S`.
"""

from typing import Any

from redis.exceptions import RedisError

from shardwright.running import Transaction
from tintype.base.bringing import Bringing
from tintype.base.ids import AccountId
from tintype.base.log import get_log
from tintype.base.near import Shelf
from tintype.base.wire import Wire

log = get_log("ties")
KEPT_S = 60.0
NAMED_MS = 100
"""A write of any value is news; nobody reads it."""


class Ties:
    """Tells of changed ties, and keeps what was made of them for as long as nobody has told."""

    def __init__(self, wire: Wire, namespace: str) -> None:
        self._wire, self._start = wire, f"{namespace}:ties:"

    async def changed(self, *people: AccountId) -> None:
        """Rows of these people have changed, and the change is committed."""
        try:
            await self._wire.ask(*(("SET", f"{self._start}{each}", b"", "PX", NAMED_MS) for each in people))
        except (RedisError, OSError) as error:
            log.warning("ties.untold", people=people, error=str(error))

    def change_with(self, tx: Transaction, *people: AccountId) -> None:
        """The same, once this transaction has committed."""

        async def tell(_server: str) -> None:
            await self.changed(*people)

        tx.after_commit(tell)

    def shelf(self, most: int) -> Shelf[int, Any]:
        """Where to keep what was made of somebody's ties."""
        return self._wire.near.shelf(self._start, int, most)

    def ask(self, person: AccountId, bringing: Bringing, shelf: Shelf[int, Any]) -> None:
        """Be told of changes from this question on."""
        bringing.add(("EXISTS", f"{self._start}{person}"), shelf, [person])
