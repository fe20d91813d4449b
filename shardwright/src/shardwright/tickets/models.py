"""What a fleet of ticket servers agrees on: names, slots and generations; arithmetic, no I/O."""

import re
from dataclasses import dataclass

from shardwright.errors import SetupInvalid

DEFAULT_SLOTS = 16
# MySQL's auto_increment_increment is a 16-bit number.
MAX_SLOTS = 65_535
# Tickets fit a signed bigint everywhere.
MAX_TICKET = 2**63 - 1

# How long a keeper waits for any one statement: a server that hangs must not hold up the fleet's others.
ANSWER_S = 30.0

_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")


@dataclass(frozen=True)
class Setup:
    """One server's part in the fleet, kept on the server itself: it is the truth, clients only read it."""

    fleet: str
    generation: int
    slots: int
    slot: int
    growing_to: int | None = None

    @property
    def is_open(self) -> bool:
        """Whether tickets may be drawn; false while the fleet moves to its next generation."""
        return self.growing_to is None


@dataclass(frozen=True)
class Member:
    """A slot and the server that it was given to, for good: a slot is never given twice."""

    slot: int
    name: str


@dataclass(frozen=True)
class TicketOptions:
    """How a client draws. The times bound what a hung server can cost a caller."""

    attempt_s: float = 0.5
    deadline_s: float = 5.0
    connections: int = 4
    # Tickets held ready for each name; a process that ends takes its own along: gaps, never repeats.
    prefetch: int = 0
    probe_first_s: float = 0.05
    probe_longest_s: float = 5.0
    # Refuse servers that can forget a ticket in a crash. Turn it off for tests alone.
    require_durability: bool = True

    def __post_init__(self) -> None:
        """Refuse what cannot work."""
        if self.attempt_s <= 0 or self.deadline_s <= 0 or self.connections < 1 or self.prefetch < 0:
            raise SetupInvalid(
                "attempt_s, deadline_s and connections must be above zero, prefetch not below it."
            )


def check_name(name: str) -> str:
    """Return the name of a sequence, or refuse what could not stand in SQL as it is."""
    if not _NAME.fullmatch(name):
        raise SetupInvalid(
            f"{name!r} cannot name a sequence: small letters, digits and _, a letter first, at most 40."
        )
    return name


def check_slots(slots: int) -> int:
    """Return the number of slots, or refuse one that no server could count with."""
    if not 1 <= slots <= MAX_SLOTS:
        raise SetupInvalid(f"A fleet has 1 to {MAX_SLOTS} slots, not {slots}.")
    return slots


def first_above(floor: int, setup: Setup) -> int:
    """Return the smallest ticket of the server's slot that lies above the floor."""
    ticket = floor + 1 + (setup.slot - floor - 1) % setup.slots
    if floor < 0 or ticket > MAX_TICKET:
        raise SetupInvalid(f"Tickets run from 1 to {MAX_TICKET}: none lies above {floor}.")
    return ticket


def is_of_slot(ticket: int, setup: Setup) -> bool:
    """Tell whether the server may give this ticket."""
    return ticket % setup.slots == setup.slot % setup.slots
