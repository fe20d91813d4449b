"""Ticket servers: short unique numbers from two or more ordinary databases, none of which may be missed.

Each server counts in its own slot (offset i, step n), so servers never agree on a number and never talk to
each other. `Fleet` sets servers up and changes them; `Tickets` draws.
"""

from shardwright.tickets.errors import NoTicket, SequenceUnknown, ServerWentBack, SlotsExhausted
from shardwright.tickets.fleet import Fleet
from shardwright.tickets.models import DEFAULT_SLOTS, Member, Setup, TicketOptions
from shardwright.tickets.service import ServerStatus, Tickets

__all__ = [
    "DEFAULT_SLOTS",
    "Fleet",
    "Member",
    "NoTicket",
    "SequenceUnknown",
    "ServerStatus",
    "ServerWentBack",
    "Setup",
    "SlotsExhausted",
    "TicketOptions",
    "Tickets",
]
