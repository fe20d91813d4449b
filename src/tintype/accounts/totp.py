"""Codes of an authenticator app (RFC 6238), and recovery codes for the day the phone is gone."""

import hmac
import re
import secrets
import time

import pyotp
import segno

from shardwright.running import Transaction
from tintype.accounts.errors import ProofWrong, TotpOff, TotpOn
from tintype.accounts.ground import Ground
from tintype.accounts.store import QUERIES
from tintype.base.ids import AccountId
from tintype.base.log import get_log

ISSUER = "Tintype"
STEP_S = 30
RECOVERY_CODES, RECOVERY_ALPHABET = 10, "abcdefghjkmnpqrstuvwxyz23456789"
RECOVERY_LENGTH = 12
CODE = re.compile(r"\d{6}")
log = get_log("accounts")


class Totp:
    """Sets up, checks and removes the second factor."""

    def __init__(self, ground: Ground) -> None:
        self._ground = ground

    async def begin(self, account_id: AccountId, username: str) -> tuple[str, str, str]:
        """A new secret, as text, as a link and as a picture to scan; it counts once a code was sent back."""
        secret = pyotp.random_base32()
        locked = self._ground.vault.lock(account_id, secret.encode())
        shard = self._ground.shards.owner(account_id)
        if await shard.fetch_one(QUERIES.set_totp, account_id=account_id, secret=locked) is None:
            raise TotpOn
        link = pyotp.TOTP(secret).provisioning_uri(name=username, issuer_name=ISSUER)
        picture = segno.make(link, error="m", micro=False).svg_inline(scale=4, border=2)
        return secret, link, picture

    async def confirm(self, account_id: AccountId, code: str) -> list[str]:
        """Turn it on; returns the recovery codes, shown this once."""
        async with self._ground.shards.owner(account_id).begin() as tx:
            await self._use_step(tx, account_id, code)
            if await tx.fetch_one(QUERIES.confirm_totp, account_id=account_id) is None:
                raise TotpOn
            codes = await self._renew_codes(tx, account_id)
        log.info("totp.turned_on", account_id=account_id)
        return codes

    async def renew_codes(self, account_id: AccountId) -> list[str]:
        """New recovery codes; the old ones are worth nothing any more."""
        async with self._ground.shards.owner(account_id).begin() as tx:
            await tx.fetch_one(QUERIES.lock_account, id=account_id)
            held = await tx.fetch_one(QUERIES.find_totp, account_id=account_id)
            if held is None or not held["is_confirmed"]:
                raise TotpOff
            return await self._renew_codes(tx, account_id)

    async def drop(self, account_id: AccountId) -> None:
        """Turn it off; the recovery codes go with it."""
        async with self._ground.shards.owner(account_id).begin() as tx:
            await tx.execute(QUERIES.drop_totp, account_id=account_id)
            await tx.execute(QUERIES.drop_recovery_codes, account_id=account_id)
        log.info("totp.turned_off", account_id=account_id)

    async def use_code(self, account_id: AccountId, code: str) -> None:
        """Take a code of the app or a recovery code, each once, or refuse."""
        plain = re.sub(r"[\s-]", "", code).lower()
        async with self._ground.shards.owner(account_id).begin() as tx:
            if CODE.fullmatch(plain):
                held = await tx.fetch_one(QUERIES.find_totp, account_id=account_id)
                if held is None or not held["is_confirmed"]:
                    raise ProofWrong
                await self._use_step(tx, account_id, plain)
            elif not await tx.fetch_one(
                QUERIES.use_recovery_code, account_id=account_id, code_hash=self._hash(account_id, plain)
            ):
                raise ProofWrong

    async def _use_step(self, tx: Transaction, account_id: AccountId, code: str) -> None:
        held = await tx.fetch_one(QUERIES.find_totp, account_id=account_id)
        if held is None:
            raise TotpOff
        secret = self._ground.vault.unlock(account_id, held["secret"])
        step = find_step(secret.decode(), code.strip()) if secret else None
        if step is None or not await tx.fetch_one(QUERIES.use_totp_step, account_id=account_id, step=step):
            raise ProofWrong

    async def _renew_codes(self, tx: Transaction, account_id: AccountId) -> list[str]:
        codes = [_make_code() for _ in range(RECOVERY_CODES)]
        await tx.execute(QUERIES.drop_recovery_codes, account_id=account_id)
        hashes = [self._hash(account_id, code) for code in codes]
        await tx.execute(QUERIES.add_recovery_codes, account_id=account_id, code_hashes=hashes)
        return [f"{code[:4]}-{code[4:8]}-{code[8:]}" for code in codes]

    def _hash(self, account_id: AccountId, code: str) -> bytes:
        return self._ground.vault.mac("recovery", f"{account_id}:{code}".encode(errors="replace"))


def find_step(secret: str, code: str) -> int | None:
    """The half minute a code belongs to: this one, or one to either side for clocks that differ."""
    if not CODE.fullmatch(code) or not code.isascii():
        return None
    now = int(time.time()) // STEP_S
    totp = pyotp.TOTP(secret)
    matching = [step for step in (now - 1, now, now + 1) if hmac.compare_digest(totp.at(step * STEP_S), code)]
    return matching[-1] if matching else None


def _make_code() -> str:
    return "".join(secrets.choice(RECOVERY_ALPHABET) for _ in range(RECOVERY_LENGTH))
