"""Device cookies: proof that somebody signed in to an account from this browser before.

Password guessing from many addresses has to be limited per account, but then an attacker could lock the owner out. A
device that has signed in before carries a cookie and has a rate limit of its own, so its owner always gets in. The
cookie proves nothing else.

A sign-in with neither a cookie nor a known combination of device name and network is a new device, of which the owner
is told by mail. The table holds keyed hashes: it does not say where somebody was.
"""

import base64
import binascii
import hmac
import secrets

from shardwright.routing import Transaction
from tintype.accounts.encryption import SecretBox
from tintype.accounts.models import Caller
from tintype.accounts.store import QUERIES
from tintype.base.ids import AccountId

NONCE_BYTES = 12
MAX_TOKEN_LENGTH = 100


class KnownDevices:
    """Issues and verifies device cookies."""

    def __init__(self, secret_box: SecretBox) -> None:
        self._secret_box = secret_box

    def issue(self, account_id: AccountId) -> str:
        """The cookie value for a device that has just signed in."""
        nonce = secrets.token_bytes(NONCE_BYTES)
        return base64.urlsafe_b64encode(nonce + self._mac(account_id, nonce)).decode().rstrip("=")

    def recognize(self, device_token: str, account_id: AccountId) -> str | None:
        """A stable name of the device where its cookie was issued for this account, else None."""
        try:
            raw = base64.urlsafe_b64decode(device_token[:MAX_TOKEN_LENGTH] + "=" * (-len(device_token) % 4))
        except (binascii.Error, ValueError):
            return None
        nonce, mac = raw[:NONCE_BYTES], raw[NONCE_BYTES:]
        return nonce.hex() if hmac.compare_digest(mac, self._mac(account_id, nonce)) else None

    async def record(self, tx: Transaction, account_id: AccountId, caller: Caller) -> bool:
        """Remember the device of a sign-in; returns whether it was new. The transaction holds the account's lock."""
        place = f"{account_id}\n{caller.network}\n{caller.device}".encode()
        is_new = await tx.fetch_value(
            QUERIES.record_device,
            account_id=account_id,
            fingerprint=self._secret_box.mac("known-device", place),
        )
        return bool(is_new) and self.recognize(caller.device_token, account_id) is None

    def _mac(self, account_id: AccountId, nonce: bytes) -> bytes:
        return self._secret_box.mac("device", f"{account_id}:".encode() + nonce)
