"""Setting up ticket servers and changing them while clients draw.

Two rules make every change safe. A slot, once given to a server, is never given to another. And a generation
is closed on every server before the next one opens on any, above everything that was given before.
"""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Collection, Mapping
from dataclasses import dataclass, replace
from uuid import uuid4

import asyncpg

from shardwright.errors import ServerUnavailable, SetupInvalid
from shardwright.tickets.backends import Keeper, backend_for
from shardwright.tickets.errors import SlotsExhausted
from shardwright.tickets.models import DEFAULT_SLOTS, Member, Setup, check_name, check_slots

_PATIENCE_S = 10.0


@dataclass(frozen=True)
class _Kept:
    """The servers under change, by name, each held by a keeper."""

    keepers: Mapping[str, Keeper]
    setups: Mapping[str, Setup]

    @property
    def generation(self) -> int:
        return max(each.generation for each in self.setups.values())

    async def find_members(self) -> list[Member]:
        """Return every slot ever given, from all servers' memories together."""
        found = [await keeper.find_members() for keeper in self.keepers.values()]
        return sorted({each for members in found for each in members}, key=lambda each: each.slot)

    async def find_names(self) -> list[str]:
        found = [await keeper.find_names() for keeper in self.keepers.values()]
        return sorted({each for names in found for each in names})


class Fleet:
    """The ticket servers of one fleet, by name; every method may be called again after a failure."""

    def __init__(self, servers: Mapping[str, str], *, patience_s: float = _PATIENCE_S) -> None:
        if not servers:
            raise SetupInvalid("A fleet has at least one server, better two.")
        self.servers = dict(servers)
        self._patience_s = patience_s

    async def found(self, *, slots: int = DEFAULT_SLOTS) -> None:
        """Give each server a slot, in the order they were named; the other slots wait for later servers."""
        check_slots(slots)
        if len(self.servers) > slots:
            raise SlotsExhausted(f"{len(self.servers)} servers need as many slots, not {slots}.")
        members = [Member(number, name) for number, name in enumerate(self.servers, start=1)]
        async with self._keepers(self.servers) as keepers:
            setups = {name: await keeper.find_setup() for name, keeper in keepers.items()}
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
                await self._refuse_amnesia(member.name, {name: keepers[name] for name in known})
                await keepers[member.name].install(wanted, members)

    async def create(self, name: str, *, start_above: int = 0) -> None:
        """Have a sequence on every server, whose tickets all lie above the number.

        Give the largest id in use to take over from a table's own counter. On a sequence that exists this
        only ever raises it, which is also the cure after a restored backup.
        """
        check_name(name)
        async with self._kept() as kept:
            self._refuse_unfinished(kept)
            for keeper in kept.keepers.values():
                await keeper.create(name, start_above)

    async def add_server(self, name: str, dsn: str, *, lost: Collection[str] = ()) -> "Fleet":
        """Give a free slot to one more server, while clients go on drawing; return the larger fleet.

        Servers in `lost` are gone for good and need not answer; their slots stay theirs.
        """
        if dsn in self.servers.values():
            raise SetupInvalid(f"{name} is the address of a server that serves tickets already.")
        async with self._kept(lost) as kept, self._keepers({name: dsn}) as newcomer:
            self._refuse_unfinished(kept)
            members = await kept.find_members()
            some = next(iter(kept.setups.values()))
            await _refuse_known(name, newcomer[name], members)
            slot = max(each.slot for each in members) + 1
            if slot > some.slots:
                raise SlotsExhausted(f"All {some.slots} slots were given: grow the fleet first.")
            member = Member(slot, name)
            for keeper in kept.keepers.values():
                await keeper.enrol(member)
            floors = {
                each: max([await keeper.draw_one(each) for keeper in kept.keepers.values()])
                for each in await kept.find_names()
            }
            await newcomer[name].install(replace(some, slot=slot), [*members, member])
            for each, floor in floors.items():
                await newcomer[name].create(each, floor)
        return Fleet(self.servers | {name: dsn}, patience_s=self._patience_s)

    async def grow(self, slots: int, *, lost: Collection[str] = (), start_above: int = 0) -> None:
        """Have more slots, above every ticket given so far.

        Clients wait for milliseconds and follow by themselves. A crash leaves them waiting, never a number
        given twice: call it again to finish. With `lost` servers, `start_above` must lie above anything that
        they can have given.
        """
        check_slots(slots)
        if lost and not start_above:
            raise SetupInvalid("Nobody knows the last tickets of lost servers: give start_above yourself.")
        async with self._kept(lost) as kept:
            present = self._decide_growth(kept, slots)
            for name, setup in kept.setups.items():
                if setup.generation == present:
                    await kept.keepers[name].close_generation(slots)
            floors = await _closed_peaks(kept, start_above)
            for name, setup in kept.setups.items():
                if setup.generation == present:
                    grown = replace(setup, generation=present + 1, slots=slots, growing_to=None)
                    await kept.keepers[name].open_generation(grown, floors)

    async def find_setups(self) -> dict[str, Setup | None]:
        """Return what each server says about itself."""
        async with self._keepers(self.servers) as keepers:
            return {name: await keeper.find_setup() for name, keeper in keepers.items()}

    def _decide_growth(self, kept: _Kept, slots: int) -> int:
        """Return the generation to leave, which an earlier attempt may have left on some servers already."""
        under_way = {each.growing_to for each in kept.setups.values() if each.growing_to is not None}
        if under_way - {slots}:
            raise SetupInvalid(f"A growth to {under_way.pop()} slots is under way: finish that one first.")
        if not under_way and len({each.generation for each in kept.setups.values()}) > 1:
            raise SetupInvalid(
                "The servers are in different generations though none is growing: restored backup?"
            )
        present = kept.generation
        if under_way:
            return min(each.generation for each in kept.setups.values())
        if slots <= max(each.slots for each in kept.setups.values()):
            raise SetupInvalid(
                f"The fleet has {max(each.slots for each in kept.setups.values())} slots already."
            )
        return present

    def _refuse_unfinished(self, kept: _Kept) -> None:
        if not all(each.is_open and each.generation == kept.generation for each in kept.setups.values()):
            raise SetupInvalid("A growth is under way: call grow again with the same slots to finish it.")

    async def _refuse_amnesia(self, name: str, others: Mapping[str, Keeper]) -> None:
        """Refuse to set up a server anew that may have given tickets before it was wiped."""
        for keeper in others.values():
            if await keeper.find_names():
                raise SetupInvalid(
                    f"{name} has no memory of its slot while tickets are being drawn: "
                    "it must not count from the start again. Add it under a new name."
                )

    @contextlib.asynccontextmanager
    async def _kept(self, lost: Collection[str] = ()) -> AsyncGenerator[_Kept]:
        """Hold every server of the fleet; each slot ever given must be held or lost."""
        present = {name: dsn for name, dsn in self.servers.items() if name not in lost}
        async with self._keepers(present) as keepers:
            setups: dict[str, Setup] = {}
            for name, keeper in keepers.items():
                setup = await keeper.find_setup()
                if setup is None:
                    raise SetupInvalid(f"{name} is part of no fleet yet: found it first.")
                setups[name] = setup
            if len({each.fleet for each in setups.values()}) != 1:
                raise SetupInvalid("These servers belong to different fleets.")
            kept = _Kept(keepers, setups)
            missing = {each.name for each in await kept.find_members()} - set(present) - set(lost)
            if missing:
                raise SetupInvalid(
                    f"Name these servers of the fleet too, or say that they are lost: {missing}."
                )
            yield kept

    @contextlib.asynccontextmanager
    async def _keepers(self, servers: Mapping[str, str]) -> AsyncGenerator[dict[str, Keeper]]:
        async with contextlib.AsyncExitStack() as stack:
            keepers: dict[str, Keeper] = {}
            for name, dsn in servers.items():
                keepers[name] = await backend_for(dsn).open_keeper(self._patience_s)
                stack.push_async_callback(_leave, keepers[name])
            try:
                yield keepers
            except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError) as error:
                raise ServerUnavailable(f"A ticket server failed; call it again: {error}") from error


async def _leave(keeper: Keeper) -> None:
    # The server frees the keeper's lock when the connection ends, whichever way it ends.
    with contextlib.suppress(OSError, TimeoutError):
        async with asyncio.timeout(_PATIENCE_S):
            await keeper.close()


async def _refuse_known(name: str, keeper: Keeper, members: Collection[Member]) -> None:
    setup = await keeper.find_setup()
    if setup is not None:
        raise SetupInvalid(f"{name} serves tickets already, in slot {setup.slot} of fleet {setup.fleet}.")
    if name in {each.name for each in members}:
        raise SetupInvalid(
            f"{name} was given a slot before and has no memory of it: add it under a new name."
        )


async def _closed_peaks(kept: _Kept, start_above: int) -> dict[str, int]:
    floors: dict[str, int] = {}
    for keeper in kept.keepers.values():
        for name, peak in (await keeper.find_closed_peaks()).items():
            floors[name] = max(peak, start_above, floors.get(name, 0))
    return floors
