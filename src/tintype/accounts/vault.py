"""What the installation's secret key does for accounts: a key of its own for every purpose.

One leaked purpose then tells nothing about another, and a stolen database without the key opens neither
authenticator secrets nor recovery codes nor the links in mails.
"""

import hashlib
import hmac
import secrets

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from tintype.base.ids import AccountId

NONCE_BYTES = 12


class Vault:
    """Signs, and encrypts small secrets at rest."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._cipher = AESGCM(self.mac("cipher", b""))

    def mac(self, purpose: str, message: bytes) -> bytes:
        """A keyed hash of 32 bytes that only this installation can make."""
        own_key = hmac.new(self._key, b"tintype:" + purpose.encode(), hashlib.sha256).digest()
        return hmac.new(own_key, message, hashlib.sha256).digest()

    def lock(self, account_id: AccountId, secret: bytes) -> bytes:
        """Encrypt; the result opens for this account only."""
        nonce = secrets.token_bytes(NONCE_BYTES)
        return nonce + self._cipher.encrypt(nonce, secret, str(account_id).encode())

    def unlock(self, account_id: AccountId, locked: bytes) -> bytes | None:
        """Decrypt; None when the secret key has changed since, or the row was meddled with."""
        try:
            return self._cipher.decrypt(locked[:NONCE_BYTES], locked[NONCE_BYTES:], str(account_id).encode())
        except InvalidTag:
            return None
