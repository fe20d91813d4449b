"""Drawing tickets: from each server in turn, past those that fail, within a deadline."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from shardwright.errors import ServerUnavailable, SetupInvalid
from shardwright.tickets.buffering import Buffer
from shardwright.tickets.errors import NoTicket, SequenceUnknown
from shardwright.tickets.models import Setup, TicketOptions, check_name
from shardwright.tickets.servers import TicketServer

# What a server is asked for at once: few enough that time-outs still mean what they say.
_TURN = 1_000


@dataclass(frozen=True)
class ServerStatus:
    """How one ticket server looks from here."""

    position: int
    is_up: bool
    setup: Setup | None
    tickets_drawn: int
    trouble: str | None


class Tickets:
    """Numbers that no two draws share, as long as one of the servers answers.

    Give the servers' addresses; which slot each counts in, they say themselves.
    """

    def __init__(self, servers: Sequence[str], options: TicketOptions | None = None) -> None:
        if not servers:
            raise SetupInvalid("Name at least one ticket server, better two.")
        self._options = options or TicketOptions()
        self._returned = asyncio.Event()
        self._servers = [
            TicketServer(dsn, self._options, check=self._check, on_return=self._wake) for dsn in servers
        ]
        self._buffers: dict[str, Buffer] = {}
        self._turn = 0
        self._generation = 0

    @classmethod
    async def open(cls, servers: Sequence[str], options: TicketOptions | None = None) -> Self:
        """Connect; a server that is down is probed until it is back, one that is set up wrongly raises."""
        tickets = cls(servers, options)
        found = await asyncio.gather(*(each.connect() for each in tickets._servers), return_exceptions=True)
        for server, error in zip(tickets._servers, found, strict=True):
            if isinstance(error, ServerUnavailable | TimeoutError):
                server.put_aside(error)
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
        """Return a ticket of the sequence that nobody else has or will get."""
        if self._options.prefetch:
            return await self._buffer(name).take()
        return (await self._draw(check_name(name), 1))[0]

    async def next_batch(self, name: str, count: int) -> list[int]:
        """Return that many tickets, ascending, with gaps between them; if it fails, those drawn are lost."""
        if count < 1:
            raise SetupInvalid(f"A batch has at least one ticket, not {count}.")
        tickets: list[int] = []
        while len(tickets) < count:
            tickets += await self._draw(check_name(name), min(count - len(tickets), _TURN))
        return sorted(tickets)

    def status(self) -> list[ServerStatus]:
        """Return how each server looks from here, in the order they were named."""
        return [
            ServerStatus(position, each.is_up, each.setup, each.tickets_drawn, each.trouble)
            for position, each in enumerate(self._servers)
        ]

    async def close(self) -> None:
        """End every session; tickets left in buffers are never given."""
        for buffer in self._buffers.values():
            await buffer.close()
        for server in self._servers:
            await server.close()

    def _buffer(self, name: str) -> Buffer:
        buffer = self._buffers.get(name)
        if buffer is None:
            check_name(name)
            size = self._options.prefetch
            buffer = self._buffers[name] = Buffer(size, lambda: self.next_batch(name, size))
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
                continue  # all its sessions were busy for a whole attempt, or it came back just now
            try:
                async with asyncio.timeout_at(deadline):
                    await returned.wait()
            except TimeoutError as error:
                raise NoTicket(self._complaint(name)) from error

    async def _draw_from_any(self, name: str, count: int, deadline: float) -> list[int] | None:
        loop = asyncio.get_running_loop()
        unknown: SequenceUnknown | None = None
        asked = [server for server in self._in_turn() if server.is_up]
        for server in asked:
            left_s = deadline - loop.time()
            if left_s <= 0:
                break
            try:
                return await server.draw(name, count, min(self._options.attempt_s, left_s))
            except SequenceUnknown as error:
                unknown = error
            except ServerUnavailable:
                continue  # its trouble is kept for status(); the next one is asked
        if unknown is not None:
            raise unknown
        return None

    def _wake(self) -> None:
        """Let everyone who waits for a server try again."""
        returned, self._returned = self._returned, asyncio.Event()
        returned.set()

    def _in_turn(self) -> list[TicketServer]:
        self._turn = (self._turn + 1) % len(self._servers)
        return self._servers[self._turn :] + self._servers[: self._turn]

    def _check(self, server: TicketServer, setup: Setup) -> None:
        """Refuse a server that is no part of this fleet, is another's twin, or slept through a growth."""
        if setup.generation < self._generation:
            raise ServerUnavailable(f"it is still in generation {setup.generation} of {self._generation}")
        if not setup.is_open:
            raise ServerUnavailable(f"the fleet grows to {setup.growing_to} slots")
        for other in self._servers:
            if other is server or other.setup is None:
                continue
            if other.setup.fleet != setup.fleet:
                raise SetupInvalid("These ticket servers belong to different fleets.")
            if other.setup.slot == setup.slot:
                raise SetupInvalid(
                    f"Two of these ticket servers claim slot {setup.slot}: one is a copy of the other."
                )
        self._follow(setup.generation)

    def _follow(self, generation: int) -> None:
        """Leave behind every server that is not in the newest generation: it is fenced, or was given up."""
        self._generation = generation
        for server in self._servers:
            if server.setup is not None and server.setup.generation < generation:
                server.put_aside(ServerUnavailable(f"it is not in generation {generation} yet"))

    def _complaint(self, name: str) -> str:
        troubles = "; ".join(f"server {each.position}: {each.trouble or 'busy'}" for each in self.status())
        return f"No ticket of {name!r} within {self._options.deadline_s} s ({troubles})."
