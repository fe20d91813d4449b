"""Keyed hashes and encryption at rest, with keys derived from the installation's secret key, one per purpose.

One leaked derived key says nothing about the others, and a stolen database without the secret key opens neither
authenticator secrets nor recovery codes nor the links in mails.
"""

import hashlib
import hmac
import secrets

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from tintype.base.ids import AccountId

NONCE_BYTES = 12


class SecretBox:
    """Makes keyed hashes (HMAC-SHA256), and encrypts small secrets (AES-GCM)."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._cipher = AESGCM(self.mac("cipher", b""))

    def mac(self, purpose: str, message: bytes) -> bytes:
        """A keyed hash of 32 bytes that only this installation can make."""
        derived_key = hmac.new(self._key, b"tintype:" + purpose.encode(), hashlib.sha256).digest()
        return hmac.new(derived_key, message, hashlib.sha256).digest()

    def encrypt(self, account_id: AccountId, secret: bytes) -> bytes:
        """Encrypt a secret so that it decrypts for this account only."""
        nonce = secrets.token_bytes(NONCE_BYTES)
        return nonce + self._cipher.encrypt(nonce, secret, str(account_id).encode())

    def decrypt(self, account_id: AccountId, encrypted: bytes) -> bytes | None:
        """Decrypt a secret; None when the secret key has changed since, or the row was tampered with."""
        nonce, ciphertext = encrypted[:NONCE_BYTES], encrypted[NONCE_BYTES:]
        try:
            return self._cipher.decrypt(nonce, ciphertext, str(account_id).encode())
        except InvalidTag:
            return None
