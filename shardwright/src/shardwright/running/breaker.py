"""A circuit breaker per server: a server that keeps failing is left alone for a while.

Callers then fail at once instead of queueing behind time-outs, and the server gets room to come back. After
the rest one call tries; its success closes the breaker, its failure doubles the rest.
"""

import time

from shardwright.errors import ServerUnavailable

LONGEST_REST_S = 15.0


class Breaker:
    """Counts consecutive failures to reach a server."""

    __slots__ = ("_allowed", "_first_rest_s", "_is_trying", "_rest_s", "_server", "failures", "open_until")

    def __init__(self, server: str, *, allowed: int, rest_s: float) -> None:
        self._server = server
        self._allowed = allowed
        self._first_rest_s = self._rest_s = rest_s
        self._is_trying = False
        self.failures = 0
        self.open_until = 0.0

    @property
    def is_open(self) -> bool:
        """Whether calls are refused at the moment."""
        return self.open_until > time.monotonic()

    def check(self) -> None:
        """Let the call pass, or refuse it; after the rest, exactly one passes to try."""
        if not self.open_until:
            return
        now = time.monotonic()
        if now < self.open_until:
            raise ServerUnavailable(
                f"server {self._server} failed {self.failures} times in a row; "
                f"the next attempt is in {self.open_until - now:.1f} s"
            )
        self.open_until = now + self._rest_s
        self._is_trying = True

    def succeeded(self) -> None:
        """The server answered."""
        self.failures = 0
        self.open_until = 0.0
        self._is_trying = False
        self._rest_s = self._first_rest_s

    def failed(self) -> None:
        """The server could not be reached, or did not answer in time."""
        self.failures += 1
        if self.is_open and not self._is_trying:
            return  # calls that were under way when it opened tell nothing new
        if self._is_trying:
            self._rest_s = min(self._rest_s * 2, LONGEST_REST_S)
        if self.failures >= self._allowed:
            self.open_until = time.monotonic() + self._rest_s
        self._is_trying = False
