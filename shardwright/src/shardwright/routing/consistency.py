"""How fresh a read must be, for `shards.read(consistency)`."""

from dataclasses import dataclass
from typing import Literal

from shardwright.errors import SetupInvalid
from shardwright.routing.sessions import Session

Level = Literal["strong", "session", "bounded", "any"]


@dataclass(frozen=True)
class Consistency:
    """A promise to the reader; make one with `STRONG`, `session()`, `bounded()` or `ANY`."""

    level: Level
    lag_s: float = 0.0
    session: Session | None = None


STRONG = Consistency("strong")
"""The primary answers: everything that was committed before the read."""
ANY = Consistency("any")
"""Any replica answers that is not behind `replica_lag_limit_s`."""


def bounded(lag_s: float) -> Consistency:
    """At least everything that was committed `lag_s` seconds before the read, or earlier."""
    if not lag_s > 0:
        raise SetupInvalid(
            f"the bound is a positive number of seconds, not {lag_s}; for none at all use STRONG"
        )
    return Consistency("bounded", lag_s)


def session(of: Session | str | None = None) -> Consistency:
    """At least what this session has written and read, here or wherever its token came from.

    `of` is the session or its token; without it, the session whose block is around the read.
    """
    if isinstance(of, str):
        return Consistency("session", session=Session.parse(of))
    return Consistency("session", session=of)
