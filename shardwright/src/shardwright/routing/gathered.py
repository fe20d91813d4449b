"""Results of many servers: the rows of those that answered in time, and the errors of the others."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import asyncpg

from shardwright.errors import NotOwner, ServerUnavailable
from shardwright.routing.deadlines import Deadline
from shardwright.routing.errors import DeadlineExceeded, PartialResult
from shardwright.routing.schema_mismatch import SchemaMismatch, ServerAnswer, mismatches_by_server
from shardwright.routing.server_client import CONNECTION_LOST, ServerClient

if TYPE_CHECKING:
    from asyncpg import Record

# The server is unavailable, for whatever reason; any other error is the statement's own.
SERVER_UNAVAILABLE = (
    *CONNECTION_LOST,
    ServerUnavailable,
    NotOwner,
    TimeoutError,
    asyncpg.OperatorInterventionError,
    asyncpg.InsufficientResourcesError,
)


@dataclass
class Gathered:
    """Rows of many shards, in no particular order, and by server the errors of those that did not answer in time.

    A server some of whose shards lack what the query names is in `failed` too, with the rows of its other shards.
    `unknown` holds the ids that belong to no shard, according to a map loaded for them, or cannot be ids at all. They
    are like ids without a row: the result is complete without them. Where that map could not be loaded,
    `failed["directory"]` says why.
    """

    rows: "list[Record]" = field(default_factory=list["Record"])
    failed: dict[str, Exception] = field(default_factory=dict[str, Exception])
    unknown: list[int] = field(default_factory=list[int])

    @property
    def is_complete(self) -> bool:
        """Whether every server answered."""
        return not self.failed

    def complete(self) -> "list[Record]":
        """The rows, or `PartialResult` when some are missing."""
        if self.failed:
            first = next(iter(self.failed.values()))
            why = f": {first}" if isinstance(first, SchemaMismatch) else ""
            raise PartialResult(f"no answer from {', '.join(sorted(self.failed))}{why}") from first
        return self.rows

    def __iter__(self) -> "Iterator[Record]":
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)


def merge(outcomes: Sequence[Gathered | BaseException]) -> Gathered:
    """Several results as one; raises the first error among them."""
    merged = Gathered()
    for outcome in outcomes:
        if isinstance(outcome, BaseException):
            raise outcome
        merged.rows += outcome.rows
        merged.failed |= outcome.failed
        merged.unknown += outcome.unknown
    return merged


async def collect(
    servers: list[ServerClient],
    work: Sequence[Callable[[], Awaitable[ServerAnswer]]],
    deadline: Deadline,
    *,
    writes: bool = False,
) -> Gathered:
    """Wait for all, each to the deadline; unavailable servers are reported in `failed`, other errors raised.

    So are shards that lack what the query names, unless no shard has it.
    """
    if len(work) == 1:
        outcomes = [await _within(work[0], servers[0], deadline, writes=writes)]
    else:
        outcomes = await asyncio.gather(
            *(
                _within(each, server, deadline, writes=writes)
                for each, server in zip(work, servers, strict=True)
            )
        )
    gathered = Gathered()
    parts: list[ServerAnswer] = []
    for server, outcome in zip(servers, outcomes, strict=True):
        if isinstance(outcome, SERVER_UNAVAILABLE):
            gathered.failed[server.server.name] = outcome
        elif isinstance(outcome, Exception):
            raise outcome
        else:
            parts.append(outcome)
            gathered.rows += outcome.rows
    gathered.failed |= mismatches_by_server(parts)
    return gathered


async def _within(
    work: Callable[[], Awaitable[ServerAnswer]], server: ServerClient, deadline: Deadline, *, writes: bool
) -> ServerAnswer | Exception:
    """Return the answer or the error: a failure must not leave the sibling tasks running unattended.

    The coroutine is created here, not earlier: a caller cancelled before this point would leave it never awaited.
    """
    timer = asyncio.timeout(max(0.0, deadline.left_s))
    try:
        async with timer:
            return await work()
    except TimeoutError as error:
        if not timer.expired() or isinstance(error, DeadlineExceeded):
            return error
        server.miss_deadline(deadline.started_at, is_sent=False)
        missed = Deadline(deadline.limit_s, deadline.started_at)
        missed.wait_for(server.answer)
        return missed.exceeded("gather", is_unknown=writes)
    except Exception as error:  # noqa: BLE001  # collect raises errors that are not about an unavailable server
        return error
