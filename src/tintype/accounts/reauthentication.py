"""Step-up authentication: a fresh proof of identity before credentials are changed or data is taken along.

A proof belongs to one session and lasts for some minutes. Where an authenticator app is set up, only the second factor
is a proof: a code, a recovery code or a passkey. Neither the password nor the sign-in itself counts then, because
whoever has taken over a session or a password must not be able to remove what protects the account. Without an
authenticator app the password is a proof, and so is the sign-in.

Proofs are read from PostgreSQL and not from the cached session: setting an authenticator app up voids those of the
password at once.
"""

from tintype.accounts.dependencies import AccountsDependencies
from tintype.accounts.errors import FactorNeeded, ProofNeeded, ProofWrong, SessionNotFound
from tintype.accounts.models import AuthenticatedSession, IdentityProof
from tintype.accounts.passkeys import Passkeys
from tintype.accounts.rate_limits import AuthRateLimits
from tintype.accounts.store import QUERIES
from tintype.accounts.tokens import hash_token
from tintype.accounts.totp import Totp
from tintype.base.ids import AccountId

PROOF_LASTS_S = 15 * 60.0


class Reauthentication:
    """Takes and demands proofs of identity from people who are signed in."""

    def __init__(
        self, deps: AccountsDependencies, *, totp: Totp, passkeys: Passkeys, limits: AuthRateLimits
    ) -> None:
        self._deps, self._totp, self._passkeys, self._limits = deps, totp, passkeys, limits

    async def prove(self, token: str, session: AuthenticatedSession, proof: IdentityProof) -> None:
        """Accept a proof for this session: password, code or passkey; the password only without a second factor."""
        account_id = session.account_id
        await self._limits.reauthenticate(account_id)
        if proof.passkey is not None:
            await self._passkeys.verify_proof(proof.passkey, account_id=account_id)
        elif proof.code:
            await self._totp.use_code(account_id, proof.code)
        elif await self._deps.shards.owner(account_id).fetch_value(QUERIES.has_factor, account_id=account_id):
            raise FactorNeeded
        else:
            await self._verify_password(account_id, proof.password)
        async with self._deps.shards.owner(account_id).begin() as tx:
            # Under this lock an authenticator app was set up before, or will be after.
            await tx.fetch_one(QUERIES.lock_account, id=account_id)
            if not proof.is_factor and await tx.fetch_value(QUERIES.has_factor, account_id=account_id):
                raise FactorNeeded
            await tx.execute(QUERIES.record_reauthentication, token_hash=hash_token(token))

    async def require(self, token: str, account_id: AccountId) -> None:
        """Raise `ProofNeeded` or `FactorNeeded` unless this session has a fresh proof of the kind that is needed."""
        is_recent, has_factor = await self._find(token, account_id)
        if not is_recent:
            raise FactorNeeded if has_factor else ProofNeeded

    async def require_factor(self, token: str, account_id: AccountId) -> None:
        """Raise `FactorNeeded` where a second factor is set up and this session has no fresh proof of it."""
        is_recent, has_factor = await self._find(token, account_id)
        if has_factor and not is_recent:
            raise FactorNeeded

    async def check_password(self, account_id: AccountId, password: str) -> None:
        """Raise `ProofWrong` for a wrong password, and `RateLimited` after too many attempts."""
        await self._limits.reauthenticate(account_id)
        await self._verify_password(account_id, password)

    async def _verify_password(self, account_id: AccountId, password: str) -> None:
        row = await self._deps.shards.owner(account_id).fetch_one(QUERIES.find_password, id=account_id)
        if not await self._deps.passwords.verify(row["password_hash"] if row else None, password):
            raise ProofWrong

    async def _find(self, token: str, account_id: AccountId) -> tuple[bool, bool]:
        row = await self._deps.shards.owner(account_id).fetch_one(
            QUERIES.find_proof, token_hash=hash_token(token), within_s=PROOF_LASTS_S
        )
        if row is None:
            raise SessionNotFound
        return row["is_recent"], row["has_factor"]
