"""Imports: only for the account itself."""

from typing import Any

from tests.api.access.access_rule import OWN, PEOPLE, AccessRule, access
from tests.api.access.scenario import Actor, Kind, Scenario, account_id
from tests.support import Person

TUS = {"Tus-Resumable": "1.0.0"}
BYTES = TUS | {"Content-Type": "application/offset+octet-stream", "Upload-Offset": "0"}
CONTENT = b"not an archive"


async def _cancel_all(scenario: Scenario, person: Person) -> None:
    """One at a time: what is under way is cancelled."""
    owner = account_id(person)
    for run in await scenario.rooms.imports.list_of(owner):
        await scenario.rooms.imports.cancel(owner, run.id)


async def _none_under_way(scenario: Scenario, kind: Kind, actor: Actor) -> dict[str, Any]:
    person = scenario.person(actor, kind)
    if person is not None:
        await _cancel_all(scenario, person)
    return {}


async def _import(scenario: Scenario, kind: Kind, _actor: Actor) -> dict[str, Any]:
    """An import of the author's that waits for archives; the same one as long as it does, since they are limited."""
    person = scenario.targets[kind].owner
    for run in await scenario.rooms.imports.list_of(account_id(person)):
        if run.state == "uploading":
            return {"import_id": str(run.id)}
    await _cancel_all(scenario, person)
    begun = await person.call("POST", "/imports", json={"source": "instagram"})
    return {"import_id": begun.json()["import_id"]}


async def _new_archive(scenario: Scenario, kind: Kind, actor: Actor) -> dict[str, Any]:
    return await _import(scenario, kind, actor) | {"headers": TUS | {"Upload-Length": "9"}}


async def _archive(scenario: Scenario, kind: Kind, actor: Actor) -> dict[str, Any]:
    """An archive of the author's that waits for its bytes."""
    begun = await _import(scenario, kind, actor)
    made = await scenario.targets[kind].owner.call(
        "POST",
        f"/imports/{begun['import_id']}/archives",
        headers=TUS | {"Upload-Length": str(len(CONTENT))},
    )
    return begun | {"archive_id": made.headers["location"].rsplit("/", 1)[1], "headers": TUS}


async def _sending(scenario: Scenario, kind: Kind, actor: Actor) -> dict[str, Any]:
    return await _archive(scenario, kind, actor) | {"headers": BYTES, "content": CONTENT[:5]}


async def _arrived(scenario: Scenario, kind: Kind, actor: Actor) -> dict[str, Any]:
    """An import of the author's whose archive has arrived."""
    await _cancel_all(scenario, scenario.targets[kind].owner)
    begun = await _archive(scenario, kind, actor)
    at = f"/imports/{begun['import_id']}/archives/{begun['archive_id']}"
    await scenario.targets[kind].owner.call("PATCH", at, headers=BYTES, content=CONTENT)
    return {"import_id": begun["import_id"]}


IMPORTS = "/api/v1/imports"
ONE = f"{IMPORTS}/{{import_id}}"
ARCHIVE = f"{ONE}/archives/{{archive_id}}"

ACCESS_RULES: dict[str, AccessRule] = {
    f"POST {IMPORTS}": access(PEOPLE, body={"source": "mastodon"}, prepare=_none_under_way),
    f"GET {IMPORTS}": access(PEOPLE),
    f"GET {ONE}": access(OWN, prepare=_import, hides=True),
    f"GET {ONE}/report": access(OWN, prepare=_import, hides=True),
    f"POST {ONE}/start": access(OWN, prepare=_arrived, hides=True),
    f"POST {ONE}/cancel": access(OWN, prepare=_import, hides=True),
    f"POST {ONE}/archives": access(OWN, prepare=_new_archive, hides=True),
    f"HEAD {ARCHIVE}": access(OWN, prepare=_archive, hides=True),
    f"PATCH {ARCHIVE}": access(OWN, prepare=_sending, hides=True),
    f"DELETE {ARCHIVE}": access(OWN, prepare=_archive, hides=True),
}
