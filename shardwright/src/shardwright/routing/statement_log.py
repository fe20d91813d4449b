"""What a transaction has executed so far, so that it can be begun again where its shard has moved to.

A server that no longer owns the shard refuses a transaction that has only read or locked rows when the shard moved; one
that has written to the shard's tables is waited for. What it has done is repeated at the new owner, and has to return
what it did: then whatever the caller concluded from it still holds, row locks are taken anew, and the caller notices
nothing. The first attempt was rolled back, so nothing takes effect twice.
"""

import copy
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from shardwright.routing.queries import Query

if TYPE_CHECKING:
    from asyncpg import Record

MAX_STATEMENTS = 32
"""A transaction that has executed more is not begun again by itself."""
_MUTABLE: tuple[type, ...] = (list, set, dict, bytearray)


class Statement(NamedTuple):
    """A named query with its arguments, and the method of asyncpg's connection that it is executed like."""

    method: str
    query: Query
    args: tuple[Any, ...]

    def with_own_args(self) -> "Statement":
        """The same with copies of lists and the like, which the caller may change later."""
        if not any(isinstance(each, _MUTABLE) for each in self.args):
            return self
        return self._replace(args=tuple([copy.copy(each) for each in self.args]))


class StatementLog:
    """The statements of one transaction and what they returned, in their order."""

    __slots__ = ("_done",)

    def __init__(self) -> None:
        self._done: list[tuple[Statement, tuple[Record, ...]]] | None = []

    @property
    def is_complete(self) -> bool:
        """Whether everything that the transaction has done is in here."""
        return self._done is not None

    def abandon(self) -> None:
        """The transaction does what cannot be repeated: SQL of the caller's own, or a savepoint."""
        self._done = None

    def add(self, statement: Statement, rows: "list[Record]") -> None:
        """Note a statement that was executed, and what it returned; the caller may change both lists later."""
        if self._done is None:
            return
        if len(self._done) == MAX_STATEMENTS:
            self._done = None
            return
        self._done.append((statement.with_own_args(), tuple(rows)))

    async def repeat(self, execute: "Callable[[Statement], Awaitable[list[Record]]]") -> bool:
        """Execute everything again; returns whether all of it returned what it did before."""
        for statement, rows in self._done or ():
            if tuple(await execute(statement)) != rows:
                return False
        return True
