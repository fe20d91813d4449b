"""Accounts, sessions, tokens and credentials: everybody has their own, and no token of a program reaches them."""

import secrets
from typing import Any

from tests.api.gates.gate import (
    EVERYBODY,
    PEOPLE,
    SIGNED_IN_CARD,
    Answers,
    Gate,
    anybody,
    nobody,
    open_to,
)
from tests.api.gates.world import NEVER_MADE, Actor, Kind, World
from tests.support import PASSWORD, join, photo
from tintype.accounts import Caller


async def _throwaway(world: World, kind: Kind, actor: Actor) -> dict[str, Any]:
    """Somebody new in place of the caller, because the call ends a session or an account."""
    if world.person(actor, kind) is None:
        return {}
    made = await join(world.client, f"gate_{secrets.token_hex(6)}")
    return {"headers": {"Authorization": f"Bearer {made.token}"}}


async def _own_name(world: World, kind: Kind, actor: Actor) -> dict[str, Any]:
    person = world.person(actor, kind)
    return {"json": {"username": person.username if person else "gate_nobody"}}


async def _picture(world: World, kind: Kind, actor: Actor) -> dict[str, Any]:
    person = world.person(actor, kind)
    media_id = (await person.upload(photo(64, 64))).json()["media_id"] if person else NEVER_MADE
    return {"json": {"media_id": media_id}}


async def _newcomer(_world: World, _kind: Kind, _actor: Actor) -> dict[str, Any]:
    return {"json": {"username": f"gate_{secrets.token_hex(6)}", "password": PASSWORD}}


async def _credentials(world: World, kind: Kind, _actor: Actor) -> dict[str, Any]:
    return {"json": {"username": world.targets[kind].owner.username, "password": PASSWORD}}


async def _reset(_world: World, _kind: Kind, _actor: Actor) -> dict[str, Any]:
    return {"json": {"username": f"gate_{secrets.token_hex(6)}"}}


async def _email(_world: World, _kind: Kind, _actor: Actor) -> dict[str, Any]:
    return {"json": {"email": f"{secrets.token_hex(6)}@example.org"}}


async def _session(world: World, kind: Kind, _actor: Actor) -> dict[str, Any]:
    """A session of the author's: another's is never found, and the author may end it."""
    owner = world.targets[kind].owner
    made = await world.rooms.accounts.sign_in(owner.username, PASSWORD, caller=Caller(device="gate"))
    held = await world.rooms.accounts.sessions.find(made.token)
    assert held is not None
    return {"session_id": str(held.session_id)}


async def _token(world: World, kind: Kind, _actor: Actor) -> dict[str, Any]:
    """A token of the author's."""
    owner = world.targets[kind].owner
    made = await owner.call("POST", "/tokens", json={"name": "gate", "scopes": ["read"]})
    return {"token_id": made.json()["about"]["token_id"]}


async def _begun_totp(world: World, kind: Kind, actor: Actor) -> dict[str, Any]:
    person = world.person(actor, kind)
    if person:
        await person.call("POST", "/security/totp")
    return {"json": {"code": "00000x"}}


ONLY_OWNER: Answers = nobody(404) | {"owner": "ok"}
TICKET = {"ticket": "x", "code": "000000"}
PASSKEYS = "/api/v1/security/passkeys"

GATES: dict[str, Gate] = {
    "POST /api/v1/accounts": open_to(EVERYBODY, prepare=_newcomer, scope=False),
    "GET /api/v1/accounts/by-name/{username}": open_to(SIGNED_IN_CARD, hides=True),
    "GET /api/v1/usernames/available": open_to(EVERYBODY, params={"username": "gate_free"}, scope=False),
    "GET /api/v1/accounts/me": open_to(PEOPLE),
    "PATCH /api/v1/accounts/me": open_to(PEOPLE, body={}),
    "GET /api/v1/accounts/me/private": open_to(PEOPLE),
    "PUT /api/v1/accounts/me/username": open_to(PEOPLE, prepare=_own_name),
    "PUT /api/v1/accounts/me/avatar": open_to(PEOPLE, prepare=_picture),
    "DELETE /api/v1/accounts/me/avatar": open_to(PEOPLE),
    "PUT /api/v1/accounts/me/email": open_to(PEOPLE, prepare=_email),
    "DELETE /api/v1/accounts/me/email": open_to(PEOPLE),
    "POST /api/v1/email-confirmations": open_to(anybody(400), body={"token": "x"}, scope=False),
    "PUT /api/v1/accounts/me/phone": open_to(nobody(400), body={"phone": "none"}),
    "DELETE /api/v1/accounts/me/phone": open_to(PEOPLE),
    "PUT /api/v1/accounts/me/password": open_to(
        nobody(403), body={"current_password": "not the one", "new_password": PASSWORD}
    ),
    "POST /api/v1/accounts/me/deactivation": open_to(PEOPLE, prepare=_throwaway),
    "POST /api/v1/password-resets": open_to(EVERYBODY, prepare=_reset, scope=False),
    "POST /api/v1/password-resets/use": open_to(
        anybody(400), body={"token": "x", "new_password": PASSWORD}, scope=False
    ),
    "POST /api/v1/sessions": open_to(EVERYBODY, prepare=_credentials, shows_all=True, scope=False),
    "GET /api/v1/sessions": open_to(PEOPLE),
    "DELETE /api/v1/sessions": open_to(PEOPLE, prepare=_throwaway),
    "DELETE /api/v1/sessions/current": open_to(PEOPLE, prepare=_throwaway),
    "DELETE /api/v1/sessions/{session_id}": open_to(ONLY_OWNER, prepare=_session, hides=True),
    "POST /api/v1/sessions/current/token": open_to(PEOPLE, prepare=_throwaway),
    "POST /api/v1/sessions/current/proof": open_to(PEOPLE, body={"password": PASSWORD}),
    "POST /api/v1/sessions/current/proof/passkey-options": open_to(PEOPLE),
    "POST /api/v1/sessions/second-factor": open_to(anybody(403), body=TICKET, scope=False),
    "POST /api/v1/sessions/second-factor/passkey-options": open_to(
        anybody(403), body={"ticket": "x"}, scope=False
    ),
    "POST /api/v1/sessions/passkey-options": open_to(EVERYBODY, scope=False),
    "POST /api/v1/sessions/passkey": open_to(anybody(400), body={"passkey": {}}, scope=False),
    "GET /api/v1/tokens": open_to(PEOPLE),
    "POST /api/v1/tokens": open_to(PEOPLE, body={"name": "gate", "scopes": ["read"]}),
    "DELETE /api/v1/tokens/{token_id}": open_to(ONLY_OWNER, prepare=_token, hides=True),
    "POST /api/v1/security/totp": open_to(PEOPLE),
    "POST /api/v1/security/totp/confirm": open_to(nobody(403), prepare=_begun_totp),
    "DELETE /api/v1/security/totp": open_to(PEOPLE),
    "POST /api/v1/security/recovery-codes": open_to(nobody(409)),
    f"POST {PASSKEYS}/options": open_to(PEOPLE),
    f"GET {PASSKEYS}": open_to(PEOPLE),
    f"POST {PASSKEYS}": open_to(nobody(400), body={"passkey": {}}),
    f"PATCH {PASSKEYS}/{{passkey_id}}": open_to(nobody(404), body={"name": "x"}),
    f"DELETE {PASSKEYS}/{{passkey_id}}": open_to(nobody(404)),
}
