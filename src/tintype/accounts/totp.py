"""Second factor: codes of an authenticator app (TOTP, RFC 6238), and recovery codes for a lost phone."""

import hmac
import re
import secrets
import time

import pyotp
import segno

from shardwright.routing import Transaction
from tintype.accounts.dependencies import AccountsDependencies
from tintype.accounts.errors import ProofWrong, TotpOff, TotpOn
from tintype.accounts.mail_queue import MailQueue
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
    """Enables, verifies and disables the second factor."""

    def __init__(self, deps: AccountsDependencies, mail_queue: MailQueue) -> None:
        self._deps, self._mail_queue = deps, mail_queue

    async def begin_setup(self, account_id: AccountId, username: str) -> tuple[str, str, str]:
        """A new secret as text, link and QR code; it is enabled once `confirm` got a code of it."""
        secret = pyotp.random_base32()
        encrypted = self._deps.secret_box.encrypt(account_id, secret.encode())
        shard = self._deps.shards.owner(account_id)
        if await shard.fetch_one(QUERIES.set_totp, account_id=account_id, secret=encrypted) is None:
            raise TotpOn
        link = pyotp.TOTP(secret).provisioning_uri(name=username, issuer_name=ISSUER)
        picture = segno.make(link, error="m", micro=False).svg_inline(scale=4, border=2)
        return secret, link, picture

    async def confirm(self, account_id: AccountId, code: str) -> list[str]:
        """Enable it; returns the recovery codes, shown this once. Proofs by the password alone stop counting."""
        async with self._deps.shards.owner(account_id).begin() as tx:
            await tx.fetch_one(QUERIES.lock_account, id=account_id)
            await self._use_step(tx, account_id, code)
            if await tx.fetch_one(QUERIES.confirm_totp, account_id=account_id) is None:
                raise TotpOn
            codes = await self._renew_codes(tx, account_id)
            await tx.execute(QUERIES.void_proofs, account_id=account_id)
            await self._mail_queue.notify(tx, account_id, "totp_enabled")
        log.info("totp.enabled", account_id=account_id)
        return codes

    async def renew_codes(self, account_id: AccountId) -> list[str]:
        """New recovery codes; the old ones stop working."""
        async with self._deps.shards.owner(account_id).begin() as tx:
            await tx.fetch_one(QUERIES.lock_account, id=account_id)
            held = await tx.fetch_one(QUERIES.find_totp, account_id=account_id)
            if held is None or not held["is_confirmed"]:
                raise TotpOff
            await self._mail_queue.notify(tx, account_id, "recovery_codes_renewed")
            return await self._renew_codes(tx, account_id)

    async def disable(self, account_id: AccountId) -> None:
        """Disable it and delete its recovery codes."""
        async with self._deps.shards.owner(account_id).begin() as tx:
            held = await tx.fetch_one(QUERIES.find_totp, account_id=account_id)
            await tx.execute(QUERIES.delete_totp, account_id=account_id)
            await tx.execute(QUERIES.delete_recovery_codes, account_id=account_id)
            if held is not None and held["is_confirmed"]:
                await self._mail_queue.notify(tx, account_id, "totp_disabled")
        log.info("totp.disabled", account_id=account_id)

    async def use_code(self, account_id: AccountId, code: str) -> None:
        """Accept a code of the app or a recovery code, each once, or raise `ProofWrong`."""
        plain = re.sub(r"[\s-]", "", code).lower()
        async with self._deps.shards.owner(account_id).begin() as tx:
            if CODE.fullmatch(plain):
                held = await tx.fetch_one(QUERIES.find_totp, account_id=account_id)
                if held is None or not held["is_confirmed"]:
                    raise ProofWrong
                await self._use_step(tx, account_id, plain)
            elif await tx.fetch_one(
                QUERIES.use_recovery_code, account_id=account_id, code_hash=self._hash(account_id, plain)
            ):
                await self._mail_queue.notify(tx, account_id, "recovery_code_used")
            else:
                raise ProofWrong

    async def _use_step(self, tx: Transaction, account_id: AccountId, code: str) -> None:
        held = await tx.fetch_one(QUERIES.find_totp, account_id=account_id)
        if held is None:
            raise TotpOff
        secret = self._deps.secret_box.decrypt(account_id, held["secret"])
        step = find_step(secret.decode(), code.strip()) if secret else None
        if step is None or not await tx.fetch_one(QUERIES.use_totp_step, account_id=account_id, step=step):
            raise ProofWrong

    async def _renew_codes(self, tx: Transaction, account_id: AccountId) -> list[str]:
        codes = [_make_code() for _ in range(RECOVERY_CODES)]
        await tx.execute(QUERIES.delete_recovery_codes, account_id=account_id)
        hashes = [self._hash(account_id, code) for code in codes]
        await tx.execute(QUERIES.add_recovery_codes, account_id=account_id, code_hashes=hashes)
        return [f"{code[:4]}-{code[4:8]}-{code[8:]}" for code in codes]

    def _hash(self, account_id: AccountId, code: str) -> bytes:
        return self._deps.secret_box.mac("recovery", f"{account_id}:{code}".encode(errors="replace"))


def find_step(secret: str, code: str) -> int | None:
    """The 30-second step of a code: the current one, or one before or after for clocks that differ."""
    if not CODE.fullmatch(code) or not code.isascii():
        return None
    now = int(time.time()) // STEP_S
    totp = pyotp.TOTP(secret)
    matching = [step for step in (now - 1, now, now + 1) if hmac.compare_digest(totp.at(step * STEP_S), code)]
    return matching[-1] if matching else None


def _make_code() -> str:
    return "".join(secrets.choice(RECOVERY_ALPHABET) for _ in range(RECOVERY_LENGTH))
