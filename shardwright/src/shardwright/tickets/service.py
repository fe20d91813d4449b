"""Draws tickets: round-robin over the servers, skipping those that fail, within a deadline."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from shardwright.errors import ServerUnavailable, SetupInvalid
from shardwright.tickets.errors import NoTicket, SequenceUnknown
from shardwright.tickets.models import Setup, TicketOptions, check_name
from shardwright.tickets.prefetch_buffer import PrefetchBuffer
from shardwright.tickets.ticket_server import TicketServer

# The most tickets of one draw: few enough that timeouts stay meaningful.
_MAX_DRAW = 1_000


@dataclass(frozen=True)
class ServerStatus:
    """Status of one ticket server, as this client sees it."""

    position: int
    is_up: bool
    setup: Setup | None
    tickets_drawn: int
    last_error: str | None


class Tickets:
    """Draws unique numbers, as long as one of the servers answers.

    Give the servers' addresses; each server stores the slot in which it counts.
    """

    def __init__(self, servers: Sequence[str], options: TicketOptions | None = None) -> None:
        if not servers:
            raise SetupInvalid("Name at least one ticket server, better two.")
        self._options = options or TicketOptions()
        self._returned = asyncio.Event()
        self._servers = [
            TicketServer(dsn, self._options, check=self._check, on_return=self._wake) for dsn in servers
        ]
        self._buffers: dict[str, PrefetchBuffer] = {}
        self._turn = 0
        self._generation = 0

    @classmethod
    async def open(cls, servers: Sequence[str], options: TicketOptions | None = None) -> Self:
        """Connect; a server that is down is probed until it is back, one with a wrong set-up raises."""
        tickets = cls(servers, options)
        found = await asyncio.gather(*(each.connect() for each in tickets._servers), return_exceptions=True)
        for server, error in zip(tickets._servers, found, strict=True):
            if isinstance(error, ServerUnavailable | TimeoutError):
                server.mark_down(error)
            elif isinstance(error, BaseException):
                await tickets.close()
                raise error
        return tickets

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None
    ) -> None:
        await self.close()

    async def next(self, name: str) -> int:
        """Return a unique ticket of the sequence."""
        if self._options.prefetch:
            return await self._buffer(name).next()
        return (await self._draw(check_name(name), 1))[0]

    async def next_batch(self, name: str, count: int) -> list[int]:
        """Return this many tickets, ascending, with gaps between them; on failure those drawn are lost."""
        if count < 1:
            raise SetupInvalid(f"A batch has at least one ticket, not {count}.")
        tickets: list[int] = []
        while len(tickets) < count:
            tickets += await self._draw(check_name(name), min(count - len(tickets), _MAX_DRAW))
        return sorted(tickets)

    def status(self) -> list[ServerStatus]:
        """Return the status of each server, in the order given."""
        return [
            ServerStatus(position, each.is_up, each.setup, each.tickets_drawn, each.last_error)
            for position, each in enumerate(self._servers)
        ]

    async def close(self) -> None:
        """Close every session; prefetched tickets are lost."""
        for buffer in self._buffers.values():
            await buffer.close()
        for server in self._servers:
            await server.close()

    def _buffer(self, name: str) -> PrefetchBuffer:
        buffer = self._buffers.get(name)
        if buffer is None:
            check_name(name)
            size = self._options.prefetch
            buffer = self._buffers[name] = PrefetchBuffer(size, lambda: self.next_batch(name, size))
        return buffer

    async def _draw(self, name: str, count: int) -> list[int]:
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._options.deadline_s
        while True:
            returned = self._returned
            tickets = await self._draw_from_any(name, count, deadline)
            if tickets is not None:
                return tickets
            if loop.time() < deadline and any(each.is_up for each in self._servers):
                continue  # its sessions were all busy for a whole attempt, or it just came back
            try:
                async with asyncio.timeout_at(deadline):
                    await returned.wait()
            except TimeoutError as error:
                raise NoTicket(self._failure_message(name)) from error

    async def _draw_from_any(self, name: str, count: int, deadline: float) -> list[int] | None:
        loop = asyncio.get_running_loop()
        unknown: SequenceUnknown | None = None
        servers = [server for server in self._round_robin() if server.is_up]
        for server in servers:
            left_s = deadline - loop.time()
            if left_s <= 0:
                break
            try:
                return await server.draw(name, count, min(self._options.attempt_s, left_s))
            except SequenceUnknown as error:
                unknown = error
            except ServerUnavailable:
                continue  # its error is shown by status(); try the next server
        if unknown is not None:
            raise unknown
        return None

    def _wake(self) -> None:
        """Wake the callers that wait for a server to come back."""
        returned, self._returned = self._returned, asyncio.Event()
        returned.set()

    def _round_robin(self) -> list[TicketServer]:
        self._turn = (self._turn + 1) % len(self._servers)
        return self._servers[self._turn :] + self._servers[: self._turn]

    def _check(self, server: TicketServer, setup: Setup) -> None:
        """Refuse a server of another fleet, a copy of another server, or one that missed a growth of the fleet."""
        if setup.generation < self._generation:
            raise ServerUnavailable(f"it is still in generation {setup.generation} of {self._generation}")
        if not setup.is_open:
            raise ServerUnavailable(f"the fleet is growing to {setup.growing_to} slots")
        for other in self._servers:
            if other is server or other.setup is None:
                continue
            if other.setup.fleet != setup.fleet:
                raise SetupInvalid("These ticket servers belong to different fleets.")
            if other.setup.slot == setup.slot:
                raise SetupInvalid(
                    f"Two of these ticket servers claim slot {setup.slot}: one is a copy of the other."
                )
        self._adopt_generation(setup.generation)

    def _adopt_generation(self, generation: int) -> None:
        """Mark down every server that is not in the newest generation: it is fenced, or was declared lost."""
        self._generation = generation
        for server in self._servers:
            if server.setup is not None and server.setup.generation < generation:
                server.mark_down(ServerUnavailable(f"it is not in generation {generation} yet"))

    def _failure_message(self, name: str) -> str:
        errors = "; ".join(f"server {each.position}: {each.last_error or 'busy'}" for each in self.status())
        return f"No ticket of {name!r} within {self._options.deadline_s} s ({errors})."
