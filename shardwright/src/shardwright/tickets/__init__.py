"""Ticket servers: short unique numbers from two or more ordinary databases, without a single point of failure.

Each server counts in its own slot (offset i, step n), so no two servers give the same number and they never
communicate. `Fleet` sets servers up and changes them; `Tickets` draws numbers.
"""

from shardwright.tickets.errors import CounterWentBackwards, NoTicket, SequenceUnknown, SlotsExhausted
from shardwright.tickets.fleet import Fleet
from shardwright.tickets.models import DEFAULT_SLOTS, Member, Setup, TicketOptions
from shardwright.tickets.service import ServerStatus, Tickets

__all__ = [
    "DEFAULT_SLOTS",
    "CounterWentBackwards",
    "Fleet",
    "Member",
    "NoTicket",
    "SequenceUnknown",
    "ServerStatus",
    "Setup",
    "SlotsExhausted",
    "TicketOptions",
    "Tickets",
]
