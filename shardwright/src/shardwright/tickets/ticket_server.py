"""One ticket server as a client sees it: its sessions, whether it is up, and the probing of one that is down."""

import asyncio
import contextlib
import random
from collections.abc import Callable

from shardwright.errors import ServerUnavailable, SetupInvalid
from shardwright.tickets.backends import Session, backend_for
from shardwright.tickets.errors import CounterWentBackwards, Fenced, SequenceUnknown
from shardwright.tickets.models import Setup, TicketOptions, is_of_slot
from shardwright.tickets.timeouts import run_within

CheckSetup = Callable[["TicketServer", Setup], None]


class TicketServer:
    """Draws from one server; a server that fails is marked down and probed until it is back."""

    def __init__(
        self, dsn: str, options: TicketOptions, *, check: CheckSetup, on_return: Callable[[], None]
    ) -> None:
        self._backend = backend_for(dsn)
        self._options = options
        self._check = check
        self._on_return = on_return
        self._idle: list[Session] = []
        self._busy: set[Session] = set()
        self._session_slots = asyncio.Semaphore(options.connections)
        self._peaks: dict[str, int] = {}
        self._probe: asyncio.Task[None] | None = None
        self._is_closed = False
        self.setup: Setup | None = None
        self.is_up = True
        self.last_error: str | None = None
        self.tickets_drawn = 0

    async def connect(self) -> None:
        """Open one session; raises the reason when the server cannot serve."""
        self._idle.append(await self._open(self._options.attempt_s))

    async def draw(self, name: str, count: int, timeout_s: float) -> list[int]:
        """Return new tickets within the timeout, or raise; a server that fails is marked down for all callers."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + timeout_s
        try:
            async with asyncio.timeout_at(deadline):
                await self._session_slots.acquire()
        except TimeoutError as error:
            # All sessions are busy, which says nothing about the server's health.
            raise ServerUnavailable(f"no session was free within {timeout_s:.2f} s") from error
        try:
            return await self._draw(name, count, deadline)
        except SequenceUnknown:
            raise
        except (ServerUnavailable, SetupInvalid, CounterWentBackwards, TimeoutError) as error:
            self.mark_down(error)
            raise ServerUnavailable(str(error)) from error
        finally:
            self._session_slots.release()

    async def close(self) -> None:
        """Stop probing and close every session."""
        self._is_closed = True
        if self._probe is not None:
            self._probe.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._probe
        self.is_up = False
        sessions, self._idle = self._idle, []
        for session in sessions:
            await self._close_session(session)

    async def _draw(self, name: str, count: int, deadline: float) -> list[int]:
        if not self.is_up:
            raise ServerUnavailable(self.last_error or "it is down and being probed")
        now = asyncio.get_running_loop().time
        session = self._idle.pop() if self._idle else await self._open(deadline - now())
        while True:
            try:
                return await self._draw_on(session, name, count, deadline - now())
            except Fenced:
                session.abandon()
            stale, session = session, await self._open(deadline - now())
            if session.setup.generation == stale.setup.generation:
                self._idle.append(session)
                raise SequenceUnknown(f"No sequence {name!r} on this ticket server: create it first.")

    async def _draw_on(self, session: Session, name: str, count: int, timeout_s: float) -> list[int]:
        """Draw, and check what the server cannot check itself: that it stays in its slot and never goes backwards."""
        floor = self._peaks.get(name, 0)
        self._busy.add(session)
        try:
            tickets = await run_within(timeout_s, session.draw(name, count), session.abandon)
        except Fenced:
            raise
        except BaseException:
            session.abandon()
            raise
        finally:
            self._busy.discard(session)
        if not all(is_of_slot(each, session.setup) for each in tickets):
            session.abandon()
            raise ServerUnavailable(f"it left its slot: {tickets[0]} is not of slot {session.setup.slot}")
        if min(tickets) <= floor:
            session.abandon()
            raise CounterWentBackwards(
                f"it gave {min(tickets)} of {name!r} after {floor}: was it restored from a backup? "
                "Raise it with Fleet.create_sequence(name, start_above=…), then reopen Tickets."
            )
        self._peaks[name] = max(floor, self._peaks.get(name, 0), *tickets)
        self.tickets_drawn += count
        if self.is_up:
            self._idle.append(session)
        else:
            session.abandon()
        return tickets

    async def _open(self, timeout_s: float) -> Session:
        if timeout_s <= 0:
            raise TimeoutError("no time was left to connect")
        session = await self._backend.open_session(
            timeout_s, require_durability=self._options.require_durability
        )
        try:
            self._check(self, session.setup)
        except BaseException:
            session.abandon()
            raise
        self.setup = session.setup
        return session

    def mark_down(self, error: Exception) -> None:
        """Stop using the server; callers waiting for it move on to another one immediately."""
        self.last_error = str(error)
        if not self.is_up:
            return
        self.is_up = False
        for session in (*self._idle, *self._busy):
            session.abandon()
        self._idle.clear()
        if not isinstance(error, CounterWentBackwards):
            self._probe = asyncio.create_task(self._probe_until_back(), name="ticket server probe")

    async def _probe_until_back(self) -> None:
        pause_s = self._options.probe_first_s
        # The flag, too: drivers use wait_for, which in Python 3.11 can swallow the cancellation of `close`.
        while not self.is_up and not self._is_closed:
            await asyncio.sleep(pause_s * random.uniform(0.5, 1.0))  # noqa: S311 - spreads clients, no secret
            pause_s = min(pause_s * 2, self._options.probe_max_s)
            try:
                await self.connect()
            except (ServerUnavailable, SetupInvalid, TimeoutError) as error:
                self.last_error = str(error)
            else:
                self.is_up, self.last_error = True, None
                self._on_return()

    async def _close_session(self, session: Session) -> None:
        try:
            await run_within(self._options.attempt_s, session.close(), session.abandon)
        except Exception:  # noqa: BLE001 - whatever the error, the connection is not needed any more
            session.abandon()
