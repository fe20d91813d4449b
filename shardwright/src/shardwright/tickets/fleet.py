"""Sets up ticket servers and changes them while clients draw.

Two rules make every change safe. A slot, once assigned to a server, is never assigned to another. And a generation is
closed on every server before the next one opens on any, above every ticket given before.
"""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Collection, Mapping
from dataclasses import dataclass, replace
from uuid import uuid4

import asyncpg

from shardwright.errors import ServerUnavailable, SetupInvalid
from shardwright.tickets.backends import AdminSession, backend_for
from shardwright.tickets.errors import SlotsExhausted
from shardwright.tickets.models import DEFAULT_SLOTS, Member, Setup, check_name, check_slots

_DEFAULT_TIMEOUT_S = 10.0


@dataclass(frozen=True)
class _LockedFleet:
    """The fleet's servers, by name, each locked by an admin session."""

    sessions: Mapping[str, AdminSession]
    setups: Mapping[str, Setup]

    @property
    def generation(self) -> int:
        return max(each.generation for each in self.setups.values())

    async def find_members(self) -> list[Member]:
        """Return every slot ever assigned, merged from the records of all servers."""
        found = [await session.find_members() for session in self.sessions.values()]
        return sorted({each for members in found for each in members}, key=lambda each: each.slot)

    async def find_sequences(self) -> list[str]:
        found = [await session.find_sequences() for session in self.sessions.values()]
        return sorted({each for names in found for each in names})


class Fleet:
    """The ticket servers of one fleet, by name; every method may be called again after a failure."""

    def __init__(self, servers: Mapping[str, str], *, timeout_s: float = _DEFAULT_TIMEOUT_S) -> None:
        if not servers:
            raise SetupInvalid("A fleet has at least one server, better two.")
        self.servers = dict(servers)
        self._timeout_s = timeout_s

    async def initialize(self, *, slots: int = DEFAULT_SLOTS) -> None:
        """Assign a slot to each server, in the order given; the other slots are for servers added later."""
        check_slots(slots)
        if len(self.servers) > slots:
            raise SlotsExhausted(f"{len(self.servers)} servers need as many slots, not {slots}.")
        members = [Member(number, name) for number, name in enumerate(self.servers, start=1)]
        async with self._admin_sessions(self.servers) as sessions:
            setups = {name: await session.find_setup() for name, session in sessions.items()}
            known = {name: setup for name, setup in setups.items() if setup is not None}
            fleet = next((each.fleet for each in known.values()), uuid4().hex)
            for member in members:
                wanted = Setup(fleet, 1, slots, member.slot)
                if member.name in known:
                    if known[member.name] != wanted:
                        raise SetupInvalid(
                            f"{member.name} is already {known[member.name]}: nothing was changed."
                        )
                    continue
                await self._refuse_wiped(member.name, {name: sessions[name] for name in known})
                await sessions[member.name].install(wanted, members)

    async def create_sequence(self, name: str, *, start_above: int = 0) -> None:
        """Create a sequence on every server, with tickets above `start_above`.

        To take over from a table's own counter, give the largest id in use. An existing sequence is only ever raised,
        which is also the repair after a restored backup.
        """
        check_name(name)
        async with self._lock() as locked:
            self._refuse_unfinished(locked)
            for session in locked.sessions.values():
                await session.create_sequence(name, start_above)

    async def add_server(self, name: str, dsn: str, *, lost: Collection[str] = ()) -> "Fleet":
        """Add a server in a free slot, while clients keep drawing; return the larger fleet.

        Servers in `lost` are gone for good and need not answer; their slots stay assigned to them.
        """
        if dsn in self.servers.values():
            raise SetupInvalid(f"{name} has the address of a server that already serves tickets.")
        async with self._lock(lost) as locked, self._admin_sessions({name: dsn}) as newcomer:
            self._refuse_unfinished(locked)
            members = await locked.find_members()
            some = next(iter(locked.setups.values()))
            await _refuse_known(name, newcomer[name], members)
            slot = max(each.slot for each in members) + 1
            if slot > some.slots:
                raise SlotsExhausted(f"All {some.slots} slots are assigned: grow the fleet first.")
            member = Member(slot, name)
            for session in locked.sessions.values():
                await session.add_member(member)
            floors = {
                each: max([await session.draw_one(each) for session in locked.sessions.values()])
                for each in await locked.find_sequences()
            }
            await newcomer[name].install(replace(some, slot=slot), [*members, member])
            for each, floor in floors.items():
                await newcomer[name].create_sequence(each, floor)
        return Fleet(self.servers | {name: dsn}, timeout_s=self._timeout_s)

    async def grow(self, slots: int, *, lost: Collection[str] = (), start_above: int = 0) -> None:
        """Increase the number of slots; new tickets are above every ticket given so far.

        Clients wait for milliseconds and switch by themselves. After a crash they keep waiting, and no number is
        given twice: call it again to finish. With `lost` servers, `start_above` must be above every ticket that they
        may have given.
        """
        check_slots(slots)
        if lost and not start_above:
            raise SetupInvalid("The last tickets of lost servers are unknown: give start_above.")
        async with self._lock(lost) as locked:
            present = self._decide_growth(locked, slots)
            for name, setup in locked.setups.items():
                if setup.generation == present:
                    await locked.sessions[name].close_generation(slots)
            floors = await _high_water_marks(locked, start_above)
            for name, setup in locked.setups.items():
                if setup.generation == present:
                    grown = replace(setup, generation=present + 1, slots=slots, growing_to=None)
                    await locked.sessions[name].open_generation(grown, floors)

    async def find_setups(self) -> dict[str, Setup | None]:
        """Return the set-up stored on each server."""
        async with self._admin_sessions(self.servers) as sessions:
            return {name: await session.find_setup() for name, session in sessions.items()}

    def _decide_growth(self, locked: _LockedFleet, slots: int) -> int:
        """Return the generation to close, which an earlier attempt may have closed on some servers already."""
        under_way = {each.growing_to for each in locked.setups.values() if each.growing_to is not None}
        if under_way - {slots}:
            raise SetupInvalid(f"A growth to {under_way.pop()} slots is under way: finish that one first.")
        if not under_way and len({each.generation for each in locked.setups.values()}) > 1:
            raise SetupInvalid(
                "The servers are in different generations though none is growing: restored backup?"
            )
        present = locked.generation
        if under_way:
            return min(each.generation for each in locked.setups.values())
        if slots <= max(each.slots for each in locked.setups.values()):
            raise SetupInvalid(
                f"The fleet has {max(each.slots for each in locked.setups.values())} slots already."
            )
        return present

    def _refuse_unfinished(self, locked: _LockedFleet) -> None:
        if not all(each.is_open and each.generation == locked.generation for each in locked.setups.values()):
            raise SetupInvalid("A growth is under way: call grow again with the same slots to finish it.")

    async def _refuse_wiped(self, name: str, others: Mapping[str, AdminSession]) -> None:
        """Refuse to set up a server that may have given tickets before its data was wiped."""
        for session in others.values():
            if await session.find_sequences():
                raise SetupInvalid(
                    f"{name} has lost its set-up while tickets are being drawn: "
                    "it must not start counting again. Add it under a new name."
                )

    @contextlib.asynccontextmanager
    async def _lock(self, lost: Collection[str] = ()) -> AsyncGenerator[_LockedFleet]:
        """Lock every server of the fleet; each slot ever assigned must be locked or declared lost."""
        present = {name: dsn for name, dsn in self.servers.items() if name not in lost}
        async with self._admin_sessions(present) as sessions:
            setups: dict[str, Setup] = {}
            for name, session in sessions.items():
                setup = await session.find_setup()
                if setup is None:
                    raise SetupInvalid(f"{name} does not belong to a fleet yet: initialize it first.")
                setups[name] = setup
            if len({each.fleet for each in setups.values()}) != 1:
                raise SetupInvalid("These servers belong to different fleets.")
            locked = _LockedFleet(sessions, setups)
            missing = {each.name for each in await locked.find_members()} - set(present) - set(lost)
            if missing:
                raise SetupInvalid(
                    f"Name these servers of the fleet too, or say that they are lost: {missing}."
                )
            yield locked

    @contextlib.asynccontextmanager
    async def _admin_sessions(self, servers: Mapping[str, str]) -> AsyncGenerator[dict[str, AdminSession]]:
        async with contextlib.AsyncExitStack() as stack:
            sessions: dict[str, AdminSession] = {}
            for name, dsn in servers.items():
                sessions[name] = await backend_for(dsn).open_admin_session(self._timeout_s)
                stack.push_async_callback(_close_session, sessions[name])
            try:
                yield sessions
            except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError) as error:
                raise ServerUnavailable(f"A ticket server failed; call it again: {error}") from error


async def _close_session(session: AdminSession) -> None:
    # The server releases the session's lock when the connection ends, whichever way it ends.
    with contextlib.suppress(OSError, TimeoutError):
        async with asyncio.timeout(_DEFAULT_TIMEOUT_S):
            await session.close()


async def _refuse_known(name: str, session: AdminSession, members: Collection[Member]) -> None:
    setup = await session.find_setup()
    if setup is not None:
        raise SetupInvalid(f"{name} already serves tickets, in slot {setup.slot} of fleet {setup.fleet}.")
    if name in {each.name for each in members}:
        raise SetupInvalid(f"{name} had a slot before and has lost its set-up: add it under a new name.")


async def _high_water_marks(locked: _LockedFleet, start_above: int) -> dict[str, int]:
    floors: dict[str, int] = {}
    for session in locked.sessions.values():
        for name, peak in (await session.find_high_water_marks()).items():
            floors[name] = max(peak, start_above, floors.get(name, 0))
    return floors
