"""End-to-end encryption: one's own devices and backup, and groups for those who are in the conversation."""

import secrets
from typing import Any

from tests.api.access.access_rule import OK, PEOPLE, AccessRule, Answers, access
from tests.api.access.scenario import KINDS, UNKNOWN_ID, Actor, Kind, Scenario, ok
from tests.direct.encryption import mls_messages as mls
from tests.direct.encryption.mls_messages import TestDevice
from tests.direct.encryption.support import begin_group, get_group, register, send
from tests.support import Person

NOBODY: Answers = {actor: 401 if actor == "anonymous" else 404 for actor in PEOPLE}
MEMBERS: Answers = NOBODY | {"owner": OK, "follower": OK}
OWNERS: Answers = NOBODY | {"owner": OK}
Devices = dict[str, TestDevice]
_made: dict[tuple[int, Kind], tuple[Devices, str]] = {}


async def _group(scenario: Scenario, kind: Kind, *, is_fresh: bool = False) -> tuple[Devices, str]:
    """The author's and their follower's devices and their group; authors in other states have none."""
    key = (id(scenario), kind)
    if kind not in KINDS:
        return {}, UNKNOWN_ID
    if key not in _made:
        people = {"owner": scenario.targets[kind].owner, "follower": scenario.people["follower"]}
        devices = {name: await register(each, packages=1) for name, each in people.items()}
        _made[key] = devices, await begin_group(*devices.values(), name="")
    devices, thread_id = _made[key]
    return devices, await begin_group(*devices.values(), name="") if is_fresh else thread_id


def _device_id(devices: Devices, actor: Actor) -> str:
    return devices[actor].device_id if actor in devices else UNKNOWN_ID


async def _plain(scenario: Scenario, kind: Kind, actor: Actor) -> dict[str, Any]:
    devices, thread_id = await _group(scenario, kind)
    return {"thread_id": thread_id, "params": {"device_id": _device_id(devices, actor)}}


async def _begin(scenario: Scenario, kind: Kind, actor: Actor) -> dict[str, Any]:
    devices, thread_id = await _group(scenario, kind)
    body = {"device_id": _device_id(devices, actor), "group_number": 1}
    return {"thread_id": thread_id, "json": body}


async def _commit(scenario: Scenario, kind: Kind, actor: Actor) -> dict[str, Any]:
    devices, thread_id = await _group(scenario, kind)
    epoch = (await get_group(devices["owner"].person, thread_id))["epoch"] if devices else 0
    content = mls.commit(thread_id, epoch=epoch, leaf_index=int(actor == "follower"))
    body = {
        "device_id": _device_id(devices, actor),
        "group_number": 1,
        "epoch": epoch,
        "commit": mls.text(content),
    }
    return {"thread_id": thread_id, "json": body}


async def _leave(scenario: Scenario, kind: Kind, actor: Actor) -> dict[str, Any]:
    devices, thread_id = await _group(scenario, kind, is_fresh=actor in {"owner", "follower"})
    body = {"device_id": _device_id(devices, actor), "group_number": 1, "epoch": 1}
    return {"thread_id": thread_id, "json": body}


async def _message(scenario: Scenario, kind: Kind, actor: Actor) -> dict[str, Any]:
    devices, thread_id = await _group(scenario, kind, is_fresh=actor in {"owner", "follower"})
    content = mls.ciphertext(thread_id, epoch=1)
    body = {
        "device_id": _device_id(devices, actor),
        "local_id": secrets.token_hex(8),
        "counter": 1,
        "group_number": 1,
        "epoch": 1,
        "ciphertext": mls.text(content),
    }
    return {"thread_id": thread_id, "json": body}


async def _attachment(scenario: Scenario, kind: Kind, _actor: Actor) -> dict[str, Any]:
    devices, thread_id = await _group(scenario, kind, is_fresh=True)
    if not devices:
        return {"thread_id": thread_id, "message_id": UNKNOWN_ID}
    owner = devices["owner"]
    files = {"file": b"sealed"}
    uploaded = await ok(owner.person.call("POST", "/direct/encryption/attachments", files=files))
    sent = await send(owner, thread_id, epoch=1, attachment_id=uploaded["attachment_id"])
    return {"thread_id": thread_id, "message_id": sent.json()["message_id"]}


async def _device(scenario: Scenario, kind: Kind, actor: Actor) -> dict[str, Any]:
    """The author's device; for the author one that they may lose."""
    devices, _ = await _group(scenario, kind)
    if actor == "owner" and devices:
        return {"device_id": (await register(devices["owner"].person, packages=0)).device_id}
    return {"device_id": _device_id(devices, "owner")}


async def _packages(scenario: Scenario, kind: Kind, _actor: Actor) -> dict[str, Any]:
    devices, _ = await _group(scenario, kind)
    return {"device_id": _device_id(devices, "owner"), "json": {"last_resort": None}}


async def _version(person: Person) -> int:
    """The version of somebody's backup, which is begun if there is none."""
    found = await person.call("GET", "/direct/encryption/backup")
    if found.status_code == 200:
        return found.json()["version"]
    body = {"header": "AAAA", "expected_version": 0}
    return (await ok(person.call("PUT", "/direct/encryption/backup", json=body)))["version"]


async def _backup(scenario: Scenario, kind: Kind, actor: Actor) -> dict[str, Any]:
    person = scenario.person(actor, kind)
    version = await _version(person) if person else 0
    return {"json": {"header": "AAAA", "version": version}}


async def _new_backup(scenario: Scenario, kind: Kind, actor: Actor) -> dict[str, Any]:
    person = scenario.person(actor, kind)
    return {"json": {"header": "AAAA", "expected_version": await _version(person) if person else 0}}


async def _part(scenario: Scenario, kind: Kind, actor: Actor) -> dict[str, Any]:
    person, name = scenario.person(actor, kind), secrets.token_hex(8)
    if person:
        body = {"backup_version": await _version(person), "expected_version": 0, "content": "AAAA"}
        await ok(person.call("PUT", f"/direct/encryption/backup/parts/{name}", json=body))
    return {"name": name}


async def _new_part(scenario: Scenario, kind: Kind, actor: Actor) -> dict[str, Any]:
    person = scenario.person(actor, kind)
    version = await _version(person) if person else 0
    body = {"backup_version": version, "expected_version": 0, "content": "AAAA"}
    return {"name": secrets.token_hex(8), "json": body}


async def _ensured(scenario: Scenario, kind: Kind, actor: Actor) -> dict[str, Any]:
    person = scenario.person(actor, kind)
    if person:
        await _version(person)
    return {}


async def _file(_scenario: Scenario, _kind: Kind, _actor: Actor) -> dict[str, Any]:
    return {"files": {"file": b"sealed"}}


def _owner(scenario: Scenario, kind: Kind) -> dict[str, Any]:
    return {"account_ids": [scenario.targets[kind].owner.account_id]}


OWN = "/api/v1/direct/encryption"
THREAD = "/api/v1/direct/threads/{thread_id}/encryption"
NEW_DEVICE = {"name": "gate", "signature_key": mls.text(bytes(32))}

ACCESS_RULES: dict[str, AccessRule] = {
    f"POST {OWN}/devices": access(PEOPLE, body=NEW_DEVICE),
    f"GET {OWN}/devices": access(PEOPLE),
    f"DELETE {OWN}/devices/{{device_id}}": access(OWNERS, prepare=_device, hides=True),
    f"POST {OWN}/devices/{{device_id}}/key-packages": access(OWNERS, prepare=_packages, hides=True),
    f"POST {OWN}/key-packages/claims": access(PEOPLE | {"blocked": 404}, body=_owner),
    f"POST {OWN}/attachments": access(PEOPLE, prepare=_file),
    f"GET {OWN}/backup": access(PEOPLE, prepare=_ensured),
    f"PUT {OWN}/backup": access(PEOPLE, prepare=_new_backup),
    f"PUT {OWN}/backup/header": access(PEOPLE, prepare=_backup),
    f"DELETE {OWN}/backup": access(PEOPLE, prepare=_ensured),
    f"GET {OWN}/backup/parts": access(PEOPLE),
    f"GET {OWN}/backup/parts/{{name}}": access(PEOPLE, prepare=_part),
    f"PUT {OWN}/backup/parts/{{name}}": access(PEOPLE, prepare=_new_part),
    f"GET {THREAD}": access(MEMBERS, prepare=_plain, hides=True),
    f"GET {THREAD}/devices": access(MEMBERS, prepare=_plain, hides=True),
    f"POST {THREAD}/group": access(MEMBERS | {"owner": 409, "follower": 409}, prepare=_begin),
    f"POST {THREAD}/commits": access(MEMBERS, prepare=_commit),
    f"GET {THREAD}/commits": access(MEMBERS, prepare=_plain, hides=True),
    f"GET {THREAD}/welcome": access(MEMBERS | {"owner": 403}, prepare=_plain, hides=True),
    f"POST {THREAD}/departure": access(MEMBERS, prepare=_leave, hides=True),
    f"POST {THREAD}/messages": access(MEMBERS, prepare=_message),
    f"GET {THREAD}/messages/{{message_id}}/attachment": access(MEMBERS, prepare=_attachment, hides=True),
}
