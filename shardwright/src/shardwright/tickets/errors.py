"""Errors of ticket servers."""

from shardwright.errors import ServerUnavailable, SetupInvalid, ShardwrightError


class NoTicket(ServerUnavailable):
    """No ticket server answered in time; try again, and check `Tickets.status()`."""


class SequenceUnknown(SetupInvalid):
    """No ticket server has a sequence of that name: create it with `Fleet.create_sequence`."""


class SlotsExhausted(SetupInvalid):
    """Every slot has been assigned to a server: grow the fleet before adding another."""


class CounterWentBackwards(ShardwrightError):
    """A ticket server returned a number at or below one it gave before, so it is no longer used."""


class Fenced(ShardwrightError):
    """The sequence does not exist in the generation that the session has cached: read the set-up again."""
