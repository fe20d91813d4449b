"""`/mqtt`: the live connection at the site's own address, forwarded to where NATS listens for MQTT.

MQTT over WebSocket is the stream of MQTT in binary frames, however it is cut, so frames are forwarded to a plain TCP
connection. Who it is, is proven by the first packet to the auth callout; cookies are not looked at, and pages of other
sites are refused all the same.
"""

import asyncio
import contextlib
from typing import Any

from prometheus_client import Gauge

from tintype.api.http.cross_site import is_own_origin
from tintype.base.log import get_log

log = get_log("http")
PATH = "/mqtt"
SUBPROTOCOL = "mqtt"
CONNECT_S = 5.0
PART_BYTES = 64 * 1024
NOT_FOUND, REFUSED, UNAVAILABLE = 4404, 4403, 1013
"""Codes that a WebSocket is closed with; before it is accepted the server answers 403."""

connections_live = Gauge(
    "tintype_live_connections", "Live connections that this process forwards.", multiprocess_mode="livesum"
)


class MqttProxy:
    """Forwards WebSockets to the MQTT listener of NATS; an empty address refuses all."""

    def __init__(self, upstream: str, public_url: str) -> None:
        self._host, _, port = upstream.rpartition(":")
        self._port, self._public_url = int(port or 0), public_url

    async def answer(self, scope: Any, receive: Any, send: Any) -> None:
        """Handle one WebSocket, from its handshake to its end."""
        await receive()  # websocket.connect
        if scope["path"] != PATH or not self._port or SUBPROTOCOL not in scope.get("subprotocols", ()):
            await send({"type": "websocket.close", "code": NOT_FOUND})
            return
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        origin = headers.get("origin")
        if origin is not None and not is_own_origin(origin, headers.get("host", ""), self._public_url):
            await send({"type": "websocket.close", "code": REFUSED})
            return
        try:
            async with asyncio.timeout(CONNECT_S):
                reader, writer = await asyncio.open_connection(self._host, self._port, limit=PART_BYTES)
        except (OSError, TimeoutError) as error:
            log.warning("live.unreachable", error=type(error).__name__)
            await send({"type": "websocket.close", "code": UNAVAILABLE})
            return
        with connections_live.track_inprogress():
            await self._forward(reader, writer, receive, send)

    async def _forward(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, receive: Any, send: Any
    ) -> None:
        await send({"type": "websocket.accept", "subprotocol": SUBPROTOCOL})
        directions = {
            asyncio.create_task(_to_broker(receive, writer)),
            asyncio.create_task(_to_device(reader, send)),
        }
        try:
            await asyncio.wait(directions, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for each in directions:
                each.cancel()
            await asyncio.gather(*directions, return_exceptions=True)
            writer.close()
            with contextlib.suppress(Exception):  # the device is gone already: nobody is left to be told
                await send({"type": "websocket.close", "code": 1000})


async def _to_broker(receive: Any, writer: asyncio.StreamWriter) -> None:
    while True:
        message = await receive()
        if message["type"] != "websocket.receive":
            return
        data = message.get("bytes")
        if data is None:  # text: no MQTT
            return
        writer.write(data)
        await writer.drain()


async def _to_device(reader: asyncio.StreamReader, send: Any) -> None:
    while data := await reader.read(PART_BYTES):
        await send({"type": "websocket.send", "bytes": data})
