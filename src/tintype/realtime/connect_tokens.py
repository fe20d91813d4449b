"""Connect tokens: what a device sends as its MQTT password, valid for a minute and for one session.

The token names the session by the hash that sessions are looked up with, so a session that has ended since admits
nobody. It is signed and not stored. The client id must begin with the account and the session: a client id evicts the
connection that holds it, so nobody may take one of somebody else's.
"""

import hashlib
import hmac
import re
import time

import msgspec

from tintype.accounts import AuthenticatedSession
from tintype.base.ids import AccountId
from tintype.realtime.errors import ConnectRefused

LIFE_S = 60
MAX_LENGTH = 300
_TOKEN = re.compile(r"([1-9][0-9]{0,18})\.([1-9][0-9]{0,18})\.([0-9a-f]{64})\.([0-9]{1,12})\.([0-9a-f]{64})")
_DEVICE = re.compile(r"[A-Za-z0-9_]{1,40}")


class ConnectToken(msgspec.Struct, frozen=True):
    """Credentials of one connection."""

    username: str
    password: str
    client_id_prefix: str
    """The client id: this, and up to 40 letters, digits and underscores that the device chooses and keeps."""
    expires_in_s: int


class TokenClaims(msgspec.Struct, frozen=True):
    """Whom a connect token names."""

    account_id: AccountId
    session_id: int
    token_hash: bytes


class ConnectTokens:
    """Issues and checks connect tokens."""

    def __init__(self, secret_key: bytes) -> None:
        self._key = hmac.new(secret_key, b"realtime connect", hashlib.sha256).digest()

    def issue(
        self, session: AuthenticatedSession, token_hash: bytes, *, now: float | None = None
    ) -> ConnectToken:
        """Credentials for a connection of this session."""
        expires_at = int((time.time() if now is None else now) + LIFE_S)
        body = f"{session.account_id}.{session.session_id}.{token_hash.hex()}.{expires_at}"
        prefix = client_id_prefix(session.account_id, session.session_id)
        return ConnectToken(str(session.account_id), f"{body}.{self._mac(body)}", prefix, LIFE_S)

    def check(self, username: str, password: str, client_id: str) -> TokenClaims:
        """Whom a token names; refused when it is not ours, has expired, or the client id is not the session's."""
        match = _TOKEN.fullmatch(password) if len(password) <= MAX_LENGTH else None
        if match is None:
            raise ConnectRefused(reason="token")
        account_id, session_id, token_hash, expires_at, mac = match.groups()
        if not hmac.compare_digest(mac, self._mac(password.rpartition(".")[0])):
            raise ConnectRefused(reason="token")
        if int(expires_at) < time.time():
            raise ConnectRefused(reason="expired")
        prefix = client_id_prefix(int(account_id), int(session_id))
        if username != account_id or not client_id.startswith(prefix):
            raise ConnectRefused(reason="client_id")
        if _DEVICE.fullmatch(client_id.removeprefix(prefix)) is None:
            raise ConnectRefused(reason="client_id")
        return TokenClaims(AccountId(int(account_id)), int(session_id), bytes.fromhex(token_hash))

    def _mac(self, body: str) -> str:
        return hmac.new(self._key, body.encode(), hashlib.sha256).hexdigest()


def client_id_prefix(account_id: int, session_id: int) -> str:
    """What the client ids of a session's devices begin with."""
    return f"{account_id}-{session_id}-"


def parse_client_id(client_id: str) -> tuple[AccountId, int] | None:
    """Account and session of a client id that the callout has admitted; None for any other."""
    parts = client_id.split("-")
    if len(parts) != 3 or not (parts[0].isdigit() and parts[1].isdigit()):  # noqa: PLR2004 - account, session, device
        return None
    return AccountId(int(parts[0])), int(parts[1])
