"""The AsyncAPI document: valid in itself, complete, and true of real messages."""

import json
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

import tintype
from tests.notifications.support import id_of
from tests.realtime.devices import Device, connect
from tests.realtime.live_nats import LiveNats
from tests.support import Person
from tintype.realtime import asyncapi_document
from tintype.realtime.protocol import COMMANDS
from tintype.sync import Update
from tintype.wiring import Rooms
from tintype.worker import Worker

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "asyncapi.json"


def schema_of(document: dict[str, Any], channel: str) -> dict[str, Any]:
    """The schema of a channel's messages, with what it refers to."""
    (message,) = document["channels"][channel]["messages"].values()
    name = message["$ref"].rpartition("/")[2]
    return {
        **document["components"]["messages"][name]["payload"],
        "components": {"schemas": document["components"]["schemas"]},
    }


def test_the_document_in_docs_is_the_one_of_the_code() -> None:
    assert json.loads(DOCUMENT.read_text()) == asyncapi_document(tintype.__version__)


def test_every_reference_leads_somewhere_and_every_part_is_used() -> None:
    document = asyncapi_document(tintype.__version__)
    references: set[str] = set()

    def collect(part: Any) -> None:
        if isinstance(part, dict):
            for name, value in part.items():  # pyright: ignore[reportUnknownVariableType] - any JSON
                if name == "$ref":
                    references.add(str(value))  # pyright: ignore[reportUnknownArgumentType] - any JSON
                collect(value)
        elif isinstance(part, list):
            for each in part:  # pyright: ignore[reportUnknownVariableType] - any JSON
                collect(each)

    collect(document)
    for reference in references:
        found: Any = document
        for step in reference.removeprefix("#/").split("/"):
            found = found[step]
    assert document["asyncapi"] == "3.0.0"
    assert {"title", "version"} <= set(document["info"])
    for part in ("schemas", "messages"):
        made = {f"#/components/{part}/{name}" for name in document["components"][part]}
        assert made <= references
    assert {each["channel"]["$ref"] for each in document["operations"].values()} == {
        f"#/channels/{name}" for name in document["channels"]
    }


async def test_every_command_that_is_registered_is_in_the_document(rooms: Rooms) -> None:
    assert sorted(COMMANDS) == [
        each for each in rooms.realtime.commands.kinds if not each.startswith("test.")
    ]


@pytest.mark.slow
async def test_real_messages_are_as_the_document_says(
    live_worker: Worker, live_rooms: Rooms, live_nats: LiveNats, ana: Person, bo: Person
) -> None:
    document = asyncapi_document(tintype.__version__)

    async def members(*_: Any) -> list[Any]:
        return [id_of(ana), id_of(bo)]

    async def check_until(device: Device, channel: str) -> dict[str, Any]:
        """Hold every message against the document until one of this channel comes."""
        while True:
            topic, content = await device.next()
            found = topic.removeprefix(f"/u/{device.person.account_id}/")
            jsonschema_rs.validate(schema_of(document, found), content)
            if found == channel:
                return content

    live_rooms.realtime.register_typing(members)
    await ana.call("PUT", f"/accounts/{bo.account_id}/follow")
    async with connect(live_nats, bo) as device:
        assert await device.subscribe(f"/u/{bo.account_id}/#")
        await bo.call("PUT", f"/accounts/{ana.account_id}/follow")
        await live_rooms.realtime.notifications.drain()
        update = Update(id_of(bo), "k", "notification", {"unread_count": 1})
        await live_rooms.sync.append([update])
        assert (await check_until(device, "updates"))["kind"] == "notification"
        for kind, payload in (
            ("ping", {}),
            ("presence.watch", {"account_ids": [ana.account_id]}),
            ("none", {}),
        ):
            sent = {"id": kind, "kind": kind, "payload": payload}
            assert jsonschema_rs.is_valid(schema_of(document, "commands"), sent) == (kind != "none")
            await device.command(kind, kind, **payload)
            assert (await check_until(device, "replies"))["id"] == kind
        async with connect(live_nats, ana) as phone:
            assert (await check_until(device, "presence"))["is_active"]
            await phone.command("t", "typing", thread_id="7")
            assert (await check_until(device, "typing"))["thread_id"] == "7"
        post = await ana.publish("Harbour")
        await device.command("watch", "watch", post_ids=[post["post_id"]])
        assert (await check_until(device, "replies"))["result"]["posts"]
        await ana.call("POST", f"/posts/{post['post_id']}/comments", json={"text": "Mine"})
        assert (await check_until(device, "posts"))["post_id"] == post["post_id"]
    wrong = {"seq": 1, "kind": "notification", "at": "2026-01-01T00:00:00Z", "payload": {"unread_count": "x"}}
    assert not jsonschema_rs.is_valid(schema_of(document, "updates"), wrong)
