"""Metrics on a port of their own, away from the public: they tell how many people do what.

Only what Prometheus needs: any request gets the current text. It is rendered in a thread and kept for a moment, because
reading the files of all processes takes some milliseconds of processor time.

Of several web processes one has the port; when it ends, another takes over.
"""

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, Callable

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest, multiprocess
from prometheus_client import REGISTRY as DEFAULT_REGISTRY

from tintype.base.log import get_log
from tintype.base.metrics import OF_THIS_PROCESS, shared_folder

log = get_log("metrics")
KEPT_S = 1.0
HEAD_TIMEOUT_S = 5.0
MAX_HEAD_BYTES = 8_192
RETRY_S = 5.0
PATH = b"/metrics"


def render_metrics() -> bytes:
    """Metrics in Prometheus format, of all web and worker processes of this machine that share a metrics folder."""
    registry = DEFAULT_REGISTRY
    if shared_folder():
        registry = CollectorRegistry()
        multiprocess.MultiProcessCollector(registry)
    return generate_latest(registry) + generate_latest(OF_THIS_PROCESS)


class MetricsListener:
    """Answers every GET of /metrics on its own port."""

    def __init__(self, host: str, port: int, render: Callable[[], bytes] = render_metrics) -> None:
        self._host, self._port, self._render = host, port, render
        self._text, self._rendered_at = b"", float("-inf")
        self._lock = asyncio.Lock()

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Listen meanwhile; where the port is taken, try again until it is free."""
        task = asyncio.create_task(self._serve() if self._port else asyncio.sleep(0))
        try:
            yield
        finally:
            task.cancel()
            await asyncio.wait([task])

    async def _serve(self) -> None:
        is_told = False
        while True:
            try:
                server = await asyncio.start_server(
                    self._answer, self._host, self._port, limit=MAX_HEAD_BYTES
                )
            except OSError as error:
                if not is_told:
                    log.info("metrics.port_taken", port=self._port, error=str(error))
                is_told = True
                await asyncio.sleep(RETRY_S)
                continue
            async with server:
                await server.serve_forever()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(HEAD_TIMEOUT_S):
                head = await reader.readuntil(b"\r\n\r\n")
                method, path, *_ = [*head.split(b"\r\n", 1)[0].split(b" "), b"", b""]
                is_found = method in {b"GET", b"HEAD"} and path.partition(b"?")[0] == PATH
                status, body = (b"200 OK", await self.text()) if is_found else (b"404 Not Found", b"")
                writer.write(_head(status, len(body)) + (body if method != b"HEAD" else b""))
                await writer.drain()
        except (OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass  # it is gone, or no client of HTTP
        finally:
            writer.close()

    async def text(self) -> bytes:
        """The current metrics, at most a second old; rendered once for all who ask meanwhile."""
        async with self._lock:
            if time.monotonic() - self._rendered_at > KEPT_S:
                self._text = await asyncio.to_thread(self._render)
                self._rendered_at = time.monotonic()
        return self._text


def _head(status: bytes, size_bytes: int) -> bytes:
    return (
        b"HTTP/1.1 %b\r\nContent-Type: %b\r\nContent-Length: %d\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n"
        % (status, CONTENT_TYPE_LATEST.encode(), size_bytes)
    )
