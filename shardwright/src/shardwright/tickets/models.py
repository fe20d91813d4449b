"""Types and arithmetic of ticket servers: names, slots and generations; no I/O."""

import re
from dataclasses import dataclass

from shardwright.errors import SetupInvalid

DEFAULT_SLOTS = 16
# MySQL's auto_increment_increment is a 16-bit number.
MAX_SLOTS = 65_535
# Tickets fit a signed bigint everywhere.
MAX_TICKET = 2**63 - 1

# Statement timeout of admin sessions: a server that hangs must not block the others.
STATEMENT_TIMEOUT_S = 30.0

_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")


@dataclass(frozen=True)
class Setup:
    """One server's place in the fleet, stored on the server itself; clients only read it."""

    fleet: str
    generation: int
    slots: int
    slot: int
    growing_to: int | None = None

    @property
    def is_open(self) -> bool:
        """Whether tickets may be drawn; False while the fleet switches to its next generation."""
        return self.growing_to is None


@dataclass(frozen=True)
class Member:
    """A slot and the server it is assigned to, for good: a slot is never assigned twice."""

    slot: int
    name: str


@dataclass(frozen=True)
class TicketOptions:
    """Options of a client. The timeouts bound how long a hung server can delay a caller."""

    attempt_s: float = 0.5
    deadline_s: float = 5.0
    connections: int = 4
    # Tickets prefetched per sequence; those left when a process ends are lost: gaps, never repeats.
    prefetch: int = 0
    probe_first_s: float = 0.05
    probe_max_s: float = 5.0
    # Refuse servers that may repeat tickets after a crash. Turn it off for tests only.
    require_durability: bool = True

    def __post_init__(self) -> None:
        """Validate the options."""
        if self.attempt_s <= 0 or self.deadline_s <= 0 or self.connections < 1 or self.prefetch < 0:
            raise SetupInvalid(
                "attempt_s, deadline_s and connections must be above zero, prefetch not below it."
            )


def check_name(name: str) -> str:
    """Return the name of a sequence, or refuse one that is not safe in SQL as it is."""
    if not _NAME.fullmatch(name):
        raise SetupInvalid(
            f"{name!r} cannot name a sequence: lowercase letters, digits and _, a letter first, at most 40."
        )
    return name


def check_slots(slots: int) -> int:
    """Return the number of slots, or refuse one that servers cannot count with."""
    if not 1 <= slots <= MAX_SLOTS:
        raise SetupInvalid(f"A fleet has 1 to {MAX_SLOTS} slots, not {slots}.")
    return slots


def first_above(floor: int, setup: Setup) -> int:
    """Return the smallest ticket of the server's slot above the floor."""
    ticket = floor + 1 + (setup.slot - floor - 1) % setup.slots
    if floor < 0 or ticket > MAX_TICKET:
        raise SetupInvalid(f"Tickets run from 1 to {MAX_TICKET}: none lies above {floor}.")
    return ticket


def is_of_slot(ticket: int, setup: Setup) -> bool:
    """Whether the ticket belongs to the server's slot."""
    return ticket % setup.slots == setup.slot % setup.slots
