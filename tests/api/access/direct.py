"""Direct messages: for those who are in a conversation, and for nobody else."""

import secrets
from collections.abc import Callable
from typing import Any

from tests.api.access.access_rule import OK, PEOPLE, AccessRule, Answers, Prepare, access
from tests.api.access.scenario import KINDS, UNKNOWN_ID, Actor, Kind, Scenario, ok
from tests.support import Person

NOBODY: Answers = {actor: 401 if actor == "anonymous" else 404 for actor in PEOPLE}
MEMBERS: Answers = NOBODY | {"owner": OK, "follower": OK}
"""The author has a group with their follower."""
ADMINS: Answers = MEMBERS | {"follower": 403}
AUTHORS: Answers = MEMBERS | {"follower": 403}
TOWARDS: Answers = PEOPLE | {"blocked": 404, "owner": 400}


async def _group(scenario: Scenario, kind: Kind) -> dict[str, str]:
    """The author's group with their follower, made once; authors in other states have none."""
    target = scenario.targets[kind]
    if "thread_id" not in target.ids and kind in KINDS:
        target.ids |= await _new_group(scenario, target.owner)
    return {name: target.ids.get(name, UNKNOWN_ID) for name in ("thread_id", "message_id")}


async def _new_group(scenario: Scenario, owner: Person) -> dict[str, str]:
    friend = scenario.people["follower"]
    body = {"account_ids": [friend.account_id], "local_id": secrets.token_hex(8)}
    thread_id = (await ok(owner.call("POST", "/direct/threads", json=body)))["thread_id"]
    sent = {"text": "gate", **_change(owner)}
    message = await ok(owner.call("POST", f"/direct/threads/{thread_id}/messages", json=sent))
    return {"thread_id": thread_id, "message_id": message["message_id"]}


def _change(person: Person | None) -> dict[str, Any]:
    """What every change of a device carries; a device of its own each time, so that each is the first."""
    name = person.username if person else "nobody"
    return {"device_id": f"{name}-{secrets.token_hex(4)}", "local_id": secrets.token_hex(8), "counter": 1}


def _with_body(**body: Any) -> Prepare:
    async def prepare(scenario: Scenario, kind: Kind, _actor: Actor) -> dict[str, Any]:
        ids = await _group(scenario, kind)
        return {**ids, "json": body}

    return prepare


def _with_change(**body: Any) -> Prepare:
    async def prepare(scenario: Scenario, kind: Kind, actor: Actor) -> dict[str, Any]:
        ids = await _group(scenario, kind)
        return {**ids, "json": {**body, **_change(scenario.person(actor, kind))}}

    return prepare


async def _plain(scenario: Scenario, kind: Kind, _actor: Actor) -> dict[str, Any]:
    return dict(await _group(scenario, kind))


async def _own_message(scenario: Scenario, kind: Kind, actor: Actor) -> dict[str, Any]:
    """A message of the author's that the author may lose."""
    ids = await _group(scenario, kind)
    person = scenario.person(actor, kind)
    if actor == "owner" and person is not None:
        path = f"/direct/threads/{ids['thread_id']}/messages"
        body = {"text": "fresh", **_change(person)}
        ids |= {"message_id": (await ok(person.call("POST", path, json=body)))["message_id"]}
    return {**ids, "json": _change(person)}


def _about(whom: Callable[[Scenario, Kind], str]) -> Prepare:
    """A group that the author may break, and somebody in it."""

    async def prepare(scenario: Scenario, kind: Kind, actor: Actor) -> dict[str, Any]:
        ids = await _group(scenario, kind)
        if actor == "owner" and kind in KINDS:
            ids = await _new_group(scenario, scenario.targets[kind].owner)
        return {**ids, "account_id": whom(scenario, kind)}

    return prepare


async def _request(scenario: Scenario, kind: Kind, actor: Actor) -> dict[str, Any]:
    """A group of the author's that waits for the stranger to accept it; nobody else can decline it."""
    ids = await _group(scenario, kind)
    if actor != "stranger" or kind not in KINDS:
        return dict(ids)
    body = {"account_ids": [scenario.people["stranger"].account_id], "local_id": secrets.token_hex(8)}
    made = await ok(scenario.targets[kind].owner.call("POST", "/direct/threads", json=body))
    return {"thread_id": made["thread_id"]}


async def _with_upload(scenario: Scenario, kind: Kind, actor: Actor) -> dict[str, Any]:
    """A photo of whoever asks."""
    ids, person = await _group(scenario, kind), scenario.person(actor, kind)
    uploaded: dict[str, Any] = (await person.upload()).json() if person is not None else {}
    return {**ids, "json": {"media_id": uploaded.get("media_id", UNKNOWN_ID)}}


async def _newcomer(scenario: Scenario, kind: Kind, actor: Actor) -> dict[str, Any]:
    """A group of its own for whoever may add somebody: the newcomer can read it from then on."""
    ids = await _group(scenario, kind)
    if actor == "owner" and kind in KINDS:
        ids = await _new_group(scenario, scenario.targets[kind].owner)
    return {**ids, "json": {"account_ids": [scenario.people["moderator"].account_id]}}


def _with_owner(scenario: Scenario, kind: Kind) -> dict[str, Any]:
    return {"account_ids": [scenario.targets[kind].owner.account_id]}


def _follower(scenario: Scenario, _kind: Kind) -> str:
    return scenario.people["follower"].account_id


def _owner(scenario: Scenario, kind: Kind) -> str:
    return scenario.targets[kind].owner.account_id


THREAD = "/api/v1/direct/threads/{thread_id}"
MESSAGE = f"{THREAD}/messages/{{message_id}}"

ACCESS_RULES: dict[str, AccessRule] = {
    "POST /api/v1/direct/threads": access(TOWARDS, body=_with_owner),
    "GET /api/v1/direct/threads": access(PEOPLE),
    "GET /api/v1/direct/unread": access(PEOPLE),
    "GET /api/v1/direct/search": access(PEOPLE, params={"q": "gate"}),
    "GET /api/v1/direct/settings": access(PEOPLE),
    "PUT /api/v1/direct/settings": access(PEOPLE, body={"audience": "everyone", "preview": "text"}),
    f"GET {THREAD}": access(MEMBERS, prepare=_plain, hides=True),
    f"PATCH {THREAD}": access(MEMBERS, prepare=_with_body(disappear_s=0), hides=True),
    f"PATCH {THREAD} (its name)": access(ADMINS, prepare=_with_body(name="Gate"), hides=True),
    f"PUT {THREAD}/photo": access(ADMINS, prepare=_with_upload, hides=True),
    f"DELETE {THREAD}/photo": access(ADMINS, prepare=_plain, hides=True),
    f"PUT {THREAD}/seen": access(MEMBERS, prepare=_with_body(number=1), hides=True),
    f"PUT {THREAD}/acceptance": access(MEMBERS, prepare=_plain, hides=True),
    f"DELETE {THREAD}/acceptance": access(NOBODY | {"stranger": OK}, prepare=_request, hides=True),
    f"PUT {THREAD}/archive": access(MEMBERS, prepare=_plain, hides=True),
    f"DELETE {THREAD}/archive": access(MEMBERS, prepare=_plain, hides=True),
    f"PUT {THREAD}/mute": access(MEMBERS, prepare=_with_body(), hides=True),
    f"DELETE {THREAD}/mute": access(MEMBERS, prepare=_plain, hides=True),
    f"POST {THREAD}/members": access(ADMINS, prepare=_newcomer),
    f"DELETE {THREAD}/members/{{account_id}}": access(ADMINS, prepare=_about(_owner), hides=True),
    f"PUT {THREAD}/admins/{{account_id}}": access(ADMINS, prepare=_about(_follower), hides=True),
    f"DELETE {THREAD}/admins/{{account_id}}": access(ADMINS, prepare=_about(_follower), hides=True),
    f"GET {THREAD}/messages": access(MEMBERS, prepare=_plain, hides=True),
    f"POST {THREAD}/messages": access(MEMBERS, prepare=_with_change(text="gate"), hides=True),
    f"GET {MESSAGE}": access(MEMBERS, prepare=_plain, hides=True),
    f"PUT {MESSAGE}/text": access(AUTHORS, prepare=_with_change(text="another"), hides=True),
    f"PUT {MESSAGE}/unsent": access(AUTHORS, prepare=_own_message, hides=True),
    f"PUT {MESSAGE}/reaction": access(MEMBERS, prepare=_with_change(emoji="🔥"), hides=True),
}
