"""The client: holds the connection, notices gaps by the numbers, fills them by HTTP, and delivers each update once.

It subscribes first and reads the log afterwards, so that nothing falls between the two. What arrives with a number that
was delivered is dropped; a number beyond the next one means that some were lost, and the log has them. The log is also
read now and then, since a message that is lost has no successor to betray it for as long as nothing else happens.
"""

import asyncio
import contextlib
import json
import random
import secrets
import ssl
from collections.abc import AsyncIterator, Sequence
from typing import Any, Self
from urllib.parse import urlsplit

import aiomqtt
import httpx

from tintype.client.http_calls import Credentials, HttpCalls
from tintype.client.models import CommandRefused, LiveUpdate, ResetNeeded, SignedOut

FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.2, 30.0
REPEAT_S = 5.0
KEEP_ALIVE_S = 30
CANCEL_AGAIN_S = 1.0
RENEW_S = 45.0
"""How often the posts that are watched are named again; the server forgets them after 90 seconds."""
Failure = ResetNeeded | SignedOut


class LiveClient:
    """A live connection that is made again whenever it breaks.

    `since` is the number of the last update that the application has dealt with; without one it begins now. `broker`
    is the host and port of an MQTT listener; without one the connection goes over WebSocket to `/mqtt`.
    """

    def __init__(
        self,
        address: str,
        token: str,
        *,
        since: int | None = None,
        device: str = "bot",
        broker: tuple[str, int] | None = None,
        check_every_s: float = 60.0,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._address, self._device, self._broker = address, device, broker
        self._http = HttpCalls(address, token, transport)
        self._since, self._check_every_s = since, check_every_s
        self._delivered: asyncio.Queue[LiveUpdate | Failure] = asyncio.Queue()
        self._signals: asyncio.Queue[tuple[str, dict[str, Any]]] = asyncio.Queue(1_000)
        self._replies: dict[str, asyncio.Future[dict[str, Any]]] = {}
        self._mqtt: aiomqtt.Client | None = None
        self._topic = ""
        self._watched: list[str] = []
        self._connected = asyncio.Event()
        self._one_command = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._run())
        return self

    async def __aexit__(self, *_: object) -> None:
        # More than once: `wait_for` of Python 3.11, used by aiomqtt, forgets a cancellation that comes with its result.
        while self._task is not None and not self._task.done():
            self._task.cancel()
            await asyncio.wait([self._task], timeout=CANCEL_AGAIN_S)
        if self._task is not None:
            await asyncio.gather(self._task, return_exceptions=True)
        await self._http.close()

    async def updates(self) -> AsyncIterator[LiveUpdate]:
        """Updates, each once and in order; ends with `ResetNeeded` or `SignedOut`."""
        while True:
            found = await self._delivered.get()
            if not isinstance(found, LiveUpdate):
                raise found
            yield found

    async def signals(self) -> AsyncIterator[tuple[str, dict[str, Any]]]:
        """What has no number and is lost when nobody is there (typing, presence, hints), by the end of its topic."""
        while True:
            yield await self._signals.get()

    async def wait_connected(self) -> None:
        """Return once the connection stands and the log was read."""
        await self._connected.wait()

    async def command(
        self, kind: str, payload: dict[str, Any] | None = None, *, command_id: str | None = None
    ) -> dict[str, Any]:
        """Have a command carried out, and return the answer; one after another, so that they keep their order.

        It is repeated under the same id until it is answered, over as many connections as that takes: the server
        carries it out once.
        """
        command_id = command_id or secrets.token_hex(16)
        body = json.dumps({"id": command_id, "kind": kind, "payload": payload or {}})
        async with self._one_command:
            answered = self._replies[command_id] = asyncio.get_running_loop().create_future()
            try:
                reply = await self._repeat(body, answered)
            finally:
                del self._replies[command_id]
        if "error" in reply:
            raise CommandRefused(reply["error"]["code"], reply["error"]["detail"])
        return reply.get("result") or {}

    async def watch(self, post_ids: Sequence[str]) -> list[dict[str, Any]]:
        """Hear of the counts and new comments of these posts (at most 20), instead of those before, as signals `posts`.

        Returns the counts now, of those that may be seen. The watch lasts, over connections that break, until the
        client is closed or watches others.
        """
        self._watched = list(post_ids)
        return (await self._name_watched())["posts"]

    async def _name_watched(self) -> dict[str, Any]:
        return await self.command("watch", {"post_ids": self._watched, "device_id": self._device})

    async def _renew_watch(self) -> None:
        while True:
            if self._watched:
                with contextlib.suppress(CommandRefused):  # too many commands at the moment: renewed later
                    await self._name_watched()
            await asyncio.sleep(RENEW_S)

    async def _repeat(self, body: str, answered: "asyncio.Future[dict[str, Any]]") -> dict[str, Any]:
        while True:
            await self._connected.wait()
            with contextlib.suppress(aiomqtt.MqttError):  # the connection broke: the next one carries it
                if self._mqtt is not None:
                    await self._mqtt.publish(f"{self._topic}/commands", body, qos=1, timeout=REPEAT_S)
            with contextlib.suppress(TimeoutError):
                return await asyncio.wait_for(asyncio.shield(answered), REPEAT_S)

    async def _run(self) -> None:
        pause_s = FIRST_PAUSE_S
        while True:
            try:
                if self._since is None:
                    self._since = await self._http.position()
                await self._connect_once()
                pause_s = FIRST_PAUSE_S
            except (ResetNeeded, SignedOut) as failure:
                await self._delivered.put(failure)
                return
            except (aiomqtt.MqttError, httpx.HTTPError, OSError):
                was_connected = self._connected.is_set()
                pause_s = FIRST_PAUSE_S if was_connected else min(LONGEST_PAUSE_S, pause_s * 2)
            finally:
                self._connected.clear()
                self._mqtt = None
            await asyncio.sleep(pause_s * random.uniform(0.5, 1.0))  # noqa: S311 - a schedule

    async def _connect_once(self) -> None:
        """Hold one connection until it breaks."""
        found = await self._http.credentials()
        async with self._open(found) as mqtt:
            await mqtt.subscribe(f"{found.topic}/#", qos=0)
            await self._fill()
            self._mqtt, self._topic = mqtt, found.topic
            self._connected.set()
            tasks = [
                asyncio.create_task(self._check_now_and_then()),
                asyncio.create_task(self._renew_watch()),
            ]
            try:
                async for message in mqtt.messages:
                    await self._take(str(message.topic).rpartition("/")[2], message.payload)
            finally:
                for each in tasks:
                    each.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)

    def _open(self, found: Credentials) -> aiomqtt.Client:
        site = urlsplit(self._address)
        is_secure = site.scheme == "https"
        host, port = self._broker or (site.hostname or "", site.port or (443 if is_secure else 80))
        return aiomqtt.Client(
            host,
            port,
            identifier=found.client_id_prefix + self._device,
            username=found.username,
            password=found.password,
            protocol=aiomqtt.ProtocolVersion.V311,
            keepalive=KEEP_ALIVE_S,
            transport="tcp" if self._broker else "websockets",
            websocket_path=None if self._broker else "/mqtt",
            tls_context=ssl.create_default_context() if is_secure and not self._broker else None,
        )

    async def _take(self, leaf: str, payload: Any) -> None:
        content: dict[str, Any] = json.loads(payload)
        if leaf == "updates":
            if content["seq"] > self._position + 1:
                await self._fill()
            self._deliver(LiveUpdate(content["seq"], content["kind"], content["payload"]))
        elif leaf == "replies":
            waiting = self._replies.get(content["id"])
            if waiting is not None and not waiting.done():
                waiting.set_result(content)
        elif not self._signals.full():
            self._signals.put_nowait((leaf, content))

    @property
    def _position(self) -> int:
        return self._since or 0

    def _deliver(self, update: LiveUpdate) -> None:
        if update.seq == self._position + 1:
            self._since = update.seq
            self._delivered.put_nowait(update)

    async def _fill(self) -> None:
        has_more = True
        while has_more:
            found, has_more = await self._http.read(self._position)
            for each in found:
                self._deliver(each)

    async def _check_now_and_then(self) -> None:
        while True:
            await asyncio.sleep(self._check_every_s)
            try:
                await self._fill()
            except (ResetNeeded, SignedOut) as failure:
                await self._delivered.put(failure)
                return
            except httpx.HTTPError:
                continue  # the next look, or the next connection, finds it
