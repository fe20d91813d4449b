"""The ways ticket servers say no."""

from shardwright.errors import ServerUnavailable, SetupInvalid, ShardwrightError


class NoTicket(ServerUnavailable):
    """No ticket server answered in time; try again, and look at `Tickets.status()`."""


class SequenceUnknown(SetupInvalid):
    """No ticket server has a sequence of that name: create it with `Fleet.create`."""


class SlotsExhausted(SetupInvalid):
    """Every slot was given to a server once: grow the fleet before adding another."""


class ServerWentBack(ShardwrightError):
    """A ticket server offered a number that it had given before, so it is no longer asked."""


class Fenced(ShardwrightError):
    """The sequence is not there in the generation that the session knows: read the set-up again."""
