"""Devices that somebody signed in on before.

Guessing a password from many addresses at once must be slowed down per account; but then an attacker could keep the
person out. A device that has signed in before carries a cookie that says so, and is counted by itself: whatever
others do, its owner gets in. The cookie proves nothing else.
"""

import base64
import binascii
import hmac
import secrets

from tintype.accounts.vault import Vault
from tintype.base.ids import AccountId

NONCE_BYTES = 12
LONGEST = 100


class Devices:
    """Makes and recognises the cookies."""

    def __init__(self, vault: Vault) -> None:
        self._vault = vault

    def mark(self, account_id: AccountId) -> str:
        """What a device keeps after a sign-in."""
        nonce = secrets.token_bytes(NONCE_BYTES)
        return base64.urlsafe_b64encode(nonce + self._mac(account_id, nonce)).decode().rstrip("=")

    def recognise(self, mark: str, account_id: AccountId) -> str | None:
        """The device's own name where it carries a mark of this account."""
        try:
            raw = base64.urlsafe_b64decode(mark[:LONGEST] + "=" * (-len(mark) % 4))
        except (binascii.Error, ValueError):
            return None
        nonce, mac = raw[:NONCE_BYTES], raw[NONCE_BYTES:]
        return nonce.hex() if hmac.compare_digest(mac, self._mac(account_id, nonce)) else None

    def _mac(self, account_id: AccountId, nonce: bytes) -> bytes:
        return self._vault.mac("device", f"{account_id}:".encode() + nonce)
