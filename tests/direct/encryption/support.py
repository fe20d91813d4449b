"""Devices and groups for tests of the server's rules."""

import secrets
from collections.abc import Sequence
from typing import Any

from tests.direct.encryption import mls_messages as mls
from tests.direct.encryption.mls_messages import TestDevice
from tests.support import Person


async def register(person: Person, name: str = "phone", *, packages: int = 3) -> TestDevice:
    """A device of somebody, with key packages and one of last resort."""
    made = TestDevice(person, "")
    body = {"name": name, "signature_key": mls.text(made.public_key)}
    answer = await person.call("POST", "/direct/encryption/devices", json=body)
    assert answer.status_code == 201, answer.text
    device = TestDevice(person, answer.json()["device_id"], made.key)
    if packages:
        answer = await upload(device, packages, last_resort=True)
        assert answer.status_code == 201, answer.text
    return device


async def upload(device: TestDevice, count: int, *, last_resort: bool = False) -> Any:
    body = {
        "key_packages": [mls.text(mls.framed(device.key_package())) for _ in range(count)],
        "last_resort": mls.text(mls.framed(device.key_package())) if last_resort else None,
    }
    return await device.person.call(
        "POST", f"/direct/encryption/devices/{device.device_id}/key-packages", json=body
    )


async def open_thread(device: TestDevice, *others: Person, name: str | None = None) -> Any:
    """The answer to opening an encrypted conversation; with a name, a group."""
    body: dict[str, Any] = {
        "account_ids": [each.account_id for each in others],
        "device_id": device.device_id,
    }
    if name is not None:
        body |= {"name": name, "local_id": secrets.token_hex(8)}
    return await device.person.call("POST", "/direct/threads", json=body)


async def send_commit(
    device: TestDevice,
    thread_id: str,
    *,
    epoch: int,
    leaf_index: int,
    added: Sequence[TestDevice] = (),
    add_members: Sequence[Person] = (),
    remove_members: Sequence[Person] = (),
    **parts: Any,
) -> Any:
    """The answer to a commit that adds these devices, with its welcome."""
    adds = [each.key_package() for each in added]
    content = mls.commit(thread_id, epoch=epoch, leaf_index=leaf_index, adds=adds, **parts)
    return await post_commit(
        device,
        thread_id,
        epoch=epoch,
        commit=mls.text(content),
        welcome=mls.text(mls.welcome(adds)) if adds else None,
        add_members=[each.account_id for each in add_members],
        remove_members=[each.account_id for each in remove_members],
        group_number=parts.get("group", 1),
    )


async def post_commit(device: TestDevice, thread_id: str, **body: Any) -> Any:
    body = {"device_id": device.device_id, "group_number": 1, **body}
    return await device.person.call("POST", f"/direct/threads/{thread_id}/encryption/commits", json=body)


async def send(device: TestDevice, thread_id: str, *, epoch: int, **more: Any) -> Any:
    """The answer to an encrypted message; counts it if it was accepted."""
    group = more.get("group_number", 1)
    body = {
        "device_id": device.device_id,
        "local_id": secrets.token_hex(8),
        "counter": device.counters.get(thread_id, 0) + 1,
        "group_number": group,
        "epoch": epoch,
        "ciphertext": mls.text(mls.ciphertext(thread_id, epoch=epoch, group=group)),
        **more,
    }
    answer = await device.person.call("POST", f"/direct/threads/{thread_id}/encryption/messages", json=body)
    device.counters[thread_id] = device.counters.get(thread_id, 0) + answer.is_success
    return answer


async def get_group(person: Person, thread_id: str) -> dict[str, Any]:
    answer = await person.call("GET", f"/direct/threads/{thread_id}/encryption")
    assert answer.status_code == 200, answer.text
    return answer.json()


async def begin_group(first: TestDevice, *others: TestDevice, name: str | None = None) -> str:
    """An encrypted conversation in its first real epoch, with these devices at leaves 0, 1, 2 …"""
    people = {each.person.account_id: each.person for each in others}
    people.pop(first.person.account_id, None)
    opened = await open_thread(first, *people.values(), name=name)
    assert opened.status_code == 201, opened.text
    thread_id = opened.json()["thread_id"]
    answer = await send_commit(first, thread_id, epoch=0, leaf_index=0, added=others)
    assert answer.status_code == 201, answer.text
    return thread_id


def code(answer: Any) -> str:
    return answer.json()["code"]
