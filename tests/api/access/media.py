"""Media: uploads are their sender's alone, files open to whoever holds an address that does, looks to everybody."""

from typing import Any

from tests.api.access.access_rule import (
    EVERYBODY,
    OK,
    OWN,
    PEOPLE,
    AccessRule,
    ByKind,
    access,
    anybody,
    nobody,
)
from tests.api.access.scenario import Actor, Kind, Scenario
from tests.support import photo
from tintype.base.ids import MediaId
from tintype.media.looks import list_looks

PICTURE = photo(64, 64)
TUS = {"Tus-Resumable": "1.0.0"}
BYTES = TUS | {"Content-Type": "application/offset+octet-stream", "Upload-Offset": "0"}
UNSIGNED: ByKind = {"public": EVERYBODY, "private": anybody(404) | {"owner": OK}}
"""An address without a signature opens nothing of a private author, but to themselves; see `media_plane.py`."""


async def _file(_world: Scenario, _kind: Kind, _actor: Actor) -> dict[str, Any]:
    return {"files": {"file": ("photo.jpg", PICTURE, "image/jpeg")}}


async def _upload(scenario: Scenario, kind: Kind, _actor: Actor) -> dict[str, Any]:
    """A picture of the author's that is not posted yet."""
    return {"media_id": (await scenario.targets[kind].owner.upload(PICTURE)).json()["media_id"]}


async def _new_tus(_world: Scenario, _kind: Kind, _actor: Actor) -> dict[str, Any]:
    return {"headers": TUS | {"Upload-Length": "9"}}


async def _begun(scenario: Scenario, kind: Kind, _actor: Actor) -> dict[str, Any]:
    """An upload of the author's that waits for its bytes."""
    made = await scenario.targets[kind].owner.call(
        "POST", "/media/tus", headers=TUS | {"Upload-Length": str(len(PICTURE))}
    )
    return {"upload_id": made.headers["location"].rsplit("/", 1)[1], "headers": TUS}


async def _sending(scenario: Scenario, kind: Kind, actor: Actor) -> dict[str, Any]:
    return await _begun(scenario, kind, actor) | {"headers": BYTES, "content": PICTURE[:5]}


async def _arrived(scenario: Scenario, kind: Kind, actor: Actor) -> dict[str, Any]:
    """An upload of the author's whose bytes are all there."""
    begun = await _begun(scenario, kind, actor)
    at = f"/media/tus/{begun['upload_id']}"
    await scenario.targets[kind].owner.call("PATCH", at, headers=BYTES, content=PICTURE)
    return begun | {"media_id": begun["upload_id"]}


async def _address(scenario: Scenario, kind: Kind, _actor: Actor) -> dict[str, Any]:
    """Where a file of the author's post lies."""
    found = await scenario.rooms.media.find(MediaId(int(scenario.targets[kind].ids["media_id"])))
    assert found is not None
    return {"path": f"{found.folder}/320.jpg"}


async def _strip(_world: Scenario, _kind: Kind, _actor: Actor) -> dict[str, Any]:
    return {"file_name": list_looks()[0].strip.rsplit("/", 1)[1]}


MEDIA = "/api/v1/media"
NEW_OBJECT = {"size_bytes": 9, "content_type": "image/jpeg"}

ACCESS_RULES: dict[str, AccessRule] = {
    f"POST {MEDIA}/upload": access(PEOPLE, prepare=_file),
    f"GET {MEDIA}/{{media_id}}": access(OWN, hides=True),
    f"DELETE {MEDIA}/{{media_id}}": access(OWN, prepare=_upload, hides=True),
    f"GET {MEDIA}/{{media_id}}/original": access(OWN, hides=True),
    f"POST {MEDIA}/{{media_id}}/edits": access(OWN, body={"edit": None}, prepare=_upload, hides=True),
    f"GET {MEDIA}/{{media_id}}/exif": access(OWN, hides=True),
    # Media lie in a folder here, and not in a store that takes uploads by itself.
    f"POST {MEDIA}/presigned": access(nobody(409), body=NEW_OBJECT),
    f"POST {MEDIA}/presigned/{{media_id}}/complete": access(OWN, prepare=_arrived, hides=True),
    f"POST {MEDIA}/tus": access(PEOPLE, prepare=_new_tus),
    f"HEAD {MEDIA}/tus/{{upload_id}}": access(OWN, prepare=_begun, hides=True),
    f"PATCH {MEDIA}/tus/{{upload_id}}": access(OWN, prepare=_sending, hides=True),
    f"DELETE {MEDIA}/tus/{{upload_id}}": access(OWN, prepare=_begun, hides=True),
    f"GET {MEDIA}/tus/{{upload_id}}": access(OWN, prepare=_arrived, hides=True),
    "GET /media/{path}": access(UNSIGNED, prepare=_address, hides=True, scope=False),
    "HEAD /media/{path}": access(UNSIGNED, prepare=_address, hides=True, scope=False),
    "GET /api/v1/looks": access(EVERYBODY, scope=False),
    "GET /api/v1/looks/{file_name}": access(EVERYBODY, prepare=_strip, scope=False),
}
