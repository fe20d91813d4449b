"""Accounts, sessions, tokens and credentials: everybody has their own, and no token of a program reaches them."""

import secrets
from typing import Any

from tests.api.access.access_rule import (
    EVERYBODY,
    PEOPLE,
    SIGNED_IN_CARD,
    AccessRule,
    Answers,
    access,
    anybody,
    nobody,
)
from tests.api.access.scenario import UNKNOWN_ID, Actor, Kind, Scenario
from tests.support import PASSWORD, join, photo
from tintype.accounts import Caller, invitation_code
from tintype.base.ids import AccountId


async def _throwaway(scenario: Scenario, kind: Kind, actor: Actor) -> dict[str, Any]:
    """Somebody new in place of the caller, because the call ends a session or an account."""
    if scenario.person(actor, kind) is None:
        return {}
    made = await join(scenario.client, f"gate_{secrets.token_hex(6)}")
    return {"headers": {"Authorization": f"Bearer {made.token}"}}


async def _own_name(scenario: Scenario, kind: Kind, actor: Actor) -> dict[str, Any]:
    person = scenario.person(actor, kind)
    return {"json": {"username": person.username if person else "gate_nobody"}}


async def _picture(scenario: Scenario, kind: Kind, actor: Actor) -> dict[str, Any]:
    person = scenario.person(actor, kind)
    media_id = (await person.upload(photo(64, 64))).json()["media_id"] if person else UNKNOWN_ID
    return {"json": {"media_id": media_id}}


async def _newcomer(_world: Scenario, _kind: Kind, _actor: Actor) -> dict[str, Any]:
    return {"json": {"username": f"gate_{secrets.token_hex(6)}", "password": PASSWORD}}


async def _credentials(scenario: Scenario, kind: Kind, _actor: Actor) -> dict[str, Any]:
    return {"json": {"username": scenario.targets[kind].owner.username, "password": PASSWORD}}


async def _reset(_world: Scenario, _kind: Kind, _actor: Actor) -> dict[str, Any]:
    return {"json": {"username": f"gate_{secrets.token_hex(6)}"}}


async def _email(_world: Scenario, _kind: Kind, _actor: Actor) -> dict[str, Any]:
    return {"json": {"email": f"{secrets.token_hex(6)}@example.org"}}


async def _session(scenario: Scenario, kind: Kind, _actor: Actor) -> dict[str, Any]:
    """A session of the author's: another's is never found, and the author may end it."""
    owner = scenario.targets[kind].owner
    made = await scenario.rooms.authentication.sign_in(owner.username, PASSWORD, caller=Caller(device="gate"))
    held = await scenario.rooms.authentication._sessions.find(made.token)
    assert held is not None
    return {"session_id": str(held.session_id)}


async def _token(scenario: Scenario, kind: Kind, _actor: Actor) -> dict[str, Any]:
    """A token of the author's."""
    owner = scenario.targets[kind].owner
    made = await owner.call("POST", "/tokens", json={"name": "gate", "scopes": ["read"]})
    return {"token_id": made.json()["about"]["token_id"]}


async def _invitation(scenario: Scenario, kind: Kind, _actor: Actor) -> dict[str, Any]:
    """A link of the author's: its holder sees whose it is, and nobody else may revoke it."""
    owner = AccountId(int(scenario.targets[kind].owner.account_id))
    invitations = scenario.rooms.accounts.invitations
    for old in (await invitations.list_of(owner))[10:]:  # nobody may have many
        await invitations.revoke(owner, old.id)
    made = await invitations.create(owner, max_uses=1, days=1)
    return {"invitation_id": str(made.id), "code": invitation_code(made)}


async def _begun_totp(scenario: Scenario, kind: Kind, actor: Actor) -> dict[str, Any]:
    person = scenario.person(actor, kind)
    if person:
        await person.call("POST", "/security/totp")
    return {"json": {"code": "00000x"}}


ONLY_OWNER: Answers = nobody(404) | {"owner": "ok"}
TICKET = {"ticket": "x", "code": "000000"}
PASSKEYS = "/api/v1/security/passkeys"

ACCESS_RULES: dict[str, AccessRule] = {
    "POST /api/v1/accounts": access(EVERYBODY, prepare=_newcomer, scope=False),
    "GET /api/v1/registration": access(EVERYBODY, scope=False),
    "GET /api/v1/invitations": access(PEOPLE),
    "POST /api/v1/invitations": access(PEOPLE, body={}),
    "DELETE /api/v1/invitations/{invitation_id}": access(ONLY_OWNER, prepare=_invitation, hides=True),
    "GET /api/v1/invitations/by-code/{code}": access(
        EVERYBODY, prepare=_invitation, shows_all=True, scope=False
    ),
    "GET /api/v1/accounts/by-name/{username}": access(SIGNED_IN_CARD, hides=True),
    "GET /api/v1/usernames/available": access(EVERYBODY, params={"username": "gate_free"}, scope=False),
    "GET /api/v1/accounts/me": access(PEOPLE),
    "PATCH /api/v1/accounts/me": access(PEOPLE, body={}),
    "GET /api/v1/accounts/me/private": access(PEOPLE),
    "GET /api/v1/accounts/me/storage": access(PEOPLE),
    "PUT /api/v1/accounts/me/username": access(PEOPLE, prepare=_own_name),
    "PUT /api/v1/accounts/me/avatar": access(PEOPLE, prepare=_picture),
    "DELETE /api/v1/accounts/me/avatar": access(PEOPLE),
    "PUT /api/v1/accounts/me/email": access(PEOPLE, prepare=_email),
    "DELETE /api/v1/accounts/me/email": access(PEOPLE),
    "POST /api/v1/email-confirmations": access(anybody(400), body={"token": "x"}, scope=False),
    "PUT /api/v1/accounts/me/phone": access(nobody(400), body={"phone": "none"}),
    "DELETE /api/v1/accounts/me/phone": access(PEOPLE),
    "PUT /api/v1/accounts/me/password": access(
        nobody(403), body={"current_password": "not the one", "new_password": PASSWORD}
    ),
    "POST /api/v1/accounts/me/deactivation": access(PEOPLE, prepare=_throwaway),
    "POST /api/v1/password-resets": access(EVERYBODY, prepare=_reset, scope=False),
    "POST /api/v1/password-resets/use": access(
        anybody(400), body={"token": "x", "new_password": PASSWORD}, scope=False
    ),
    "POST /api/v1/sessions": access(EVERYBODY, prepare=_credentials, shows_all=True, scope=False),
    "GET /api/v1/sessions": access(PEOPLE),
    "DELETE /api/v1/sessions": access(PEOPLE, prepare=_throwaway),
    "DELETE /api/v1/sessions/current": access(PEOPLE, prepare=_throwaway),
    "DELETE /api/v1/sessions/{session_id}": access(ONLY_OWNER, prepare=_session, hides=True),
    "POST /api/v1/sessions/current/token": access(PEOPLE, prepare=_throwaway),
    "GET /api/v1/sessions/current/proof": access(PEOPLE),
    "POST /api/v1/sessions/current/proof": access(PEOPLE, body={"password": PASSWORD}),
    "POST /api/v1/sessions/current/proof/passkey-options": access(PEOPLE),
    "POST /api/v1/sessions/second-factor": access(anybody(403), body=TICKET, scope=False),
    "POST /api/v1/sessions/second-factor/passkey-options": access(
        anybody(403), body={"ticket": "x"}, scope=False
    ),
    "POST /api/v1/sessions/passkey-options": access(EVERYBODY, scope=False),
    "POST /api/v1/sessions/passkey": access(anybody(400), body={"passkey": {}}, scope=False),
    "GET /api/v1/sessions/device": access(EVERYBODY, scope=False),
    "POST /api/v1/sessions/device": access(anybody(404), scope=False),
    "PUT /api/v1/sessions/device/{account_id}": access(anybody(404), scope=False, hides=True),
    "DELETE /api/v1/sessions/device/{account_id}": access(anybody(404), scope=False, hides=True),
    "GET /api/v1/tokens": access(PEOPLE),
    "POST /api/v1/tokens": access(PEOPLE, body={"name": "gate", "scopes": ["read"]}),
    "DELETE /api/v1/tokens/{token_id}": access(ONLY_OWNER, prepare=_token, hides=True),
    "POST /api/v1/security/totp": access(PEOPLE),
    "POST /api/v1/security/totp/confirm": access(nobody(403), prepare=_begun_totp),
    "DELETE /api/v1/security/totp": access(PEOPLE),
    "POST /api/v1/security/recovery-codes": access(nobody(409)),
    f"POST {PASSKEYS}/options": access(PEOPLE),
    f"GET {PASSKEYS}": access(PEOPLE),
    f"POST {PASSKEYS}": access(nobody(400), body={"passkey": {}}),
    f"PATCH {PASSKEYS}/{{passkey_id}}": access(nobody(404), body={"name": "x"}),
    f"DELETE {PASSKEYS}/{{passkey_id}}": access(nobody(404)),
}
