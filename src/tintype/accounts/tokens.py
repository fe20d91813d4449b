"""Tokens: opaque to their holder, but they carry the account so that the shard to ask is known.

256 random bits need no slow hash: SHA-256 of the token is what the database keeps. The secret of a mail is not random
but a keyed hash of the mail's nonce, so that it need not be stored between the request and the sending.
"""

import base64
import binascii
import hashlib
import secrets

from tintype.accounts.vault import Vault
from tintype.base.ids import AccountId

ID_BYTES = 8
RANDOM_BYTES = 32


def make_token(account_id: AccountId) -> str:
    """A new token for a session of this account."""
    return _encode(account_id, secrets.token_bytes(RANDOM_BYTES))


def make_mail_token(vault: Vault, account_id: AccountId, kind: str, nonce: str) -> str:
    """The secret of a mail, the same each time it is made."""
    return _encode(account_id, vault.mac(f"mail:{kind}", f"{account_id}:{nonce}".encode()))


def account_of(token: str) -> AccountId | None:
    """The account a token claims to belong to; only the database knows whether it does."""
    try:
        raw = base64.b64decode(token + "=" * (-len(token) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        return None
    if len(raw) != ID_BYTES + RANDOM_BYTES or raw[0] & 0x80:
        return None
    return AccountId(int.from_bytes(raw[:ID_BYTES]))


def hash_token(token: str) -> bytes:
    """What is stored and looked up."""
    return hashlib.sha256(token.encode(errors="replace")).digest()


def _encode(account_id: AccountId, tail: bytes) -> str:
    return base64.urlsafe_b64encode(account_id.to_bytes(ID_BYTES) + tail).decode().rstrip("=")
