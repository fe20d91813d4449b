"""Tokens of sessions and mails: opaque to their holder, but they contain the account id, which gives the shard.

256 random bits need no slow hash: the database stores the SHA-256 of a token. The secret of a mail is not random but a
keyed hash of the mail's nonce, so that it need not be stored between request and sending.
"""

import base64
import binascii
import hashlib
import secrets

from tintype.accounts.encryption import SecretBox
from tintype.base.ids import AccountId

ID_BYTES = 8
RANDOM_BYTES = 32


def make_token(account_id: AccountId) -> str:
    """A new session token of this account."""
    return _encode(account_id, secrets.token_bytes(RANDOM_BYTES))


def make_mail_token(secret_box: SecretBox, account_id: AccountId, kind: str, nonce: str) -> str:
    """The secret of a mail's link, the same for the same nonce."""
    return _encode(account_id, secret_box.mac(f"mail:{kind}", f"{account_id}:{nonce}".encode()))


def account_of(token: str) -> AccountId | None:
    """The account id in a token, unverified; None for something that is no token."""
    try:
        raw = base64.b64decode(token + "=" * (-len(token) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        return None
    if len(raw) != ID_BYTES + RANDOM_BYTES or raw[0] & 0x80:
        return None
    return AccountId(int.from_bytes(raw[:ID_BYTES]))


def hash_token(token: str) -> bytes:
    """The hash under which a token is stored and looked up."""
    return hashlib.sha256(token.encode(errors="replace")).digest()


def _encode(account_id: AccountId, tail: bytes) -> str:
    return base64.urlsafe_b64encode(account_id.to_bytes(ID_BYTES) + tail).decode().rstrip("=")
