"""Background look for a server's primary while nobody gets an answer from it; nothing is asked while it answers.

Behind an open circuit breaker calls fail at once, so they cannot find out that the server is back, or that a standby
was promoted: a probe does, every second. A server that hangs leaves its callers waiting before the breaker opens; if it
has several addresses, they are asked meanwhile, so that a promotion ends the waiting.
"""

import asyncio
import logging
from collections.abc import Coroutine
from time import monotonic
from typing import TYPE_CHECKING, Any

from shardwright.errors import ServerUnavailable

if TYPE_CHECKING:
    from shardwright.routing.pooled_connection import Connector
    from shardwright.routing.server_client import ServerClient

log = logging.getLogger(__name__)

SILENT_S = 2.0
"""After this time without any answer, while callers wait for one, a server may hang."""


class PrimaryWatch:
    """Looks for one server's primary, one question at a time, when the router's maintenance says so."""

    def __init__(self, client: "ServerClient", connector: "Connector") -> None:
        self._client = client
        self._connector = connector
        self._task: asyncio.Task[None] | None = None
        self.asked = 0
        """How often it has looked."""

    def check(self) -> None:
        """Start looking, if there is a reason to and nobody looks yet; called every second, never waits."""
        if self._task is not None and not self._task.done():
            return
        if self._client.breaker.open_until:
            self._start(self._probe())
        elif self._connector.primary.has_several and self._client.is_silent(monotonic() - SILENT_S):
            self._start(self._search())

    async def close(self) -> None:
        """Stop looking."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        self.asked += 1
        self._task = asyncio.create_task(work, name="shardwright-primary-watch")

    async def _search(self) -> None:
        """Ask all addresses: if another one has a newer primary, the connections to the old one are dropped."""
        self._connector.primary.doubt()
        try:
            await self._connector.primary.find()
        except ServerUnavailable as error:
            log.info("primary.silent: %s", error)

    async def _probe(self) -> None:
        """Open a connection to whatever is the primary now: if that succeeds, calls are let through again."""
        self._connector.primary.doubt()
        try:
            conn, _ = await self._connector.connect()
        except Exception as error:  # noqa: BLE001 - also one of the caller's own set-up: the server does not serve
            log.info("primary.silent: of server %s: %r", self._client.server.name, error)
            return
        conn.terminate()
        self._client.breaker.record_success()
