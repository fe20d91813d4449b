"""Devices: MQTT clients of people, made with aiomqtt, as any program could."""

import asyncio
import gc
import json
import warnings
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

import aiomqtt

from tests.realtime.live_nats import LiveNats
from tests.support import Person

PATIENCE_S = 30
GRANTED = {0}


@dataclass(frozen=True)
class Device:
    """A device that is connected."""

    mqtt: aiomqtt.Client
    person: Person

    async def subscribe(self, topic: str, qos: int = 0) -> bool:
        """Whether the broker grants a subscription."""
        answer: Any = await self.mqtt.subscribe(topic, qos=qos)
        return int(answer[0].value) in GRANTED

    async def next(self) -> tuple[str, Any]:
        """The topic and content of the next message."""
        async with asyncio.timeout(PATIENCE_S):
            message = await anext(aiter(self.mqtt.messages))
        assert isinstance(message.payload, bytes)
        return str(message.topic), json.loads(message.payload)

    async def command(self, command_id: str, kind: str, **payload: Any) -> None:
        """Publish a command at QoS 1; returns at its PUBACK."""
        body = json.dumps({"id": command_id, "kind": kind, "payload": payload})
        await self.mqtt.publish(f"/u/{self.person.account_id}/commands", body, qos=1)

    async def is_cut(self) -> None:
        """Return when the connection has been cut."""
        async with asyncio.timeout(PATIENCE_S):
            try:
                async for _ in self.mqtt.messages:
                    pass
            except aiomqtt.MqttError:
                return


async def token_of(person: Person) -> dict[str, Any]:
    answer = await person.call("POST", "/realtime/token")
    assert answer.status_code == 201, answer.text
    return answer.json()


@asynccontextmanager
async def connect(
    server: LiveNats, person: Person, *, device: str = "phone", **changed: Any
) -> AsyncGenerator[Device]:
    """A device of somebody, with their credentials unless they are changed."""
    token = await token_of(person)
    options: dict[str, Any] = {
        "hostname": "127.0.0.1",
        "port": server.ports.mqtt_port,
        "identifier": token["client_id_prefix"] + device,
        "username": token["username"],
        "password": token["password"],
        "protocol": aiomqtt.ProtocolVersion.V311,
        "timeout": PATIENCE_S,
        **changed,
    }
    client = aiomqtt.Client(**options)
    await client.__aenter__()
    try:
        yield Device(client, person)
    finally:
        with suppress(aiomqtt.MqttError):  # it was cut
            await client.__aexit__(None, None, None)


async def is_refused(server: LiveNats, person: Person, **changed: Any) -> bool:
    """Whether the broker refuses a connection with these credentials."""
    try:
        async with connect(server, person, **changed):
            return False
    except aiomqtt.MqttError:
        pass
    with warnings.catch_warnings():  # paho leaves the socket of a refused handshake to the garbage collector
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()
    return True
