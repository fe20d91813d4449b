"""Session tokens: opaque to their holder, but they carry the account so that the session's shard is known.

256 random bits need no slow hash: SHA-256 of the token is what the database keeps.
"""

import base64
import binascii
import hashlib
import secrets

from tintype.base.ids import AccountId

ID_BYTES = 8
RANDOM_BYTES = 32


def make_token(account_id: AccountId) -> str:
    """A new token for a session of this account."""
    raw = account_id.to_bytes(ID_BYTES) + secrets.token_bytes(RANDOM_BYTES)
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def account_of(token: str) -> AccountId | None:
    """The account a token claims to belong to; only the database knows whether it does."""
    try:
        raw = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))
    except (binascii.Error, ValueError):
        return None
    if len(raw) != ID_BYTES + RANDOM_BYTES or raw[0] & 0x80:
        return None
    return AccountId(int.from_bytes(raw[:ID_BYTES]))


def hash_token(token: str) -> bytes:
    """What is stored and looked up."""
    return hashlib.sha256(token.encode()).digest()
