"""Rate limits on sign-up, sign-in, proofs of identity and requests for mail.

Every attempt counts before its outcome is known, and by what was sent, not by what exists: a limit never reveals
whether an account exists. docs/adr/0014 explains why sign-in is limited per network, per name and per pair of both.
"""

import hashlib

from tintype.accounts.known_devices import KnownDevices
from tintype.accounts.models import Caller
from tintype.base.ids import AccountId
from tintype.redis.rate_limits import RateLimit, RateLimiter

SIGN_UP = RateLimit("join", count=10, per_s=3_600)
SIGN_IN_PER_NETWORK = RateLimit("sign-in-network", count=60, per_s=600)
SIGN_IN_PER_PAIR = RateLimit("sign-in-pair", count=10, per_s=600)
SIGN_IN_PER_NAME = RateLimit("sign-in-name", count=100, per_s=3_600)
SIGN_IN_PER_DEVICE = RateLimit("sign-in-device", count=10, per_s=300)
SECOND_FACTOR = RateLimit("second-factor", count=10, per_s=600)
REAUTHENTICATION = RateLimit("proof", count=10, per_s=600)
MAIL_PER_NETWORK = RateLimit("mail-network", count=20, per_s=3_600)
MAIL_PER_NAME = RateLimit("mail-name", count=3, per_s=1_800)
PHONE_CLAIM = RateLimit("claim", count=10, per_s=86_400)
USERNAME_CHECK = RateLimit("look-up", count=100, per_s=600)
USERNAME_CHANGE = RateLimit("rename", count=3, per_s=14 * 86_400)


class AuthRateLimits:
    """Each method counts one attempt and raises `RateLimited` when there were too many."""

    def __init__(self, limiter: RateLimiter, devices: KnownDevices) -> None:
        self._limiter, self._devices = limiter, devices

    async def sign_up(self, caller: Caller) -> None:
        """Count an attempt to create an account."""
        await self._per_network(SIGN_UP, caller)

    async def sign_in(self, identifier: str, account_id: AccountId | None, caller: Caller) -> None:
        """Count a sign-in per network, per name and network, and per name; a known device has a limit of its own."""
        await self._per_network(SIGN_IN_PER_NETWORK, caller)
        device = self._devices.recognize(caller.device_token, account_id) if account_id else None
        if device is not None:
            return await self._limiter.acquire(SIGN_IN_PER_DEVICE, device)
        name = digest(identifier)
        await self._limiter.acquire(SIGN_IN_PER_PAIR, f"{name}:{caller.network}")
        return await self._limiter.acquire(SIGN_IN_PER_NAME, name)

    async def reset_sign_in(self, identifier: str, caller: Caller) -> None:
        """After a correct password: forget earlier attempts with this name from this network."""
        await self._limiter.reset(SIGN_IN_PER_PAIR, f"{digest(identifier)}:{caller.network}")

    async def second_factor(self, account_id: AccountId) -> None:
        """Count a second-factor attempt by somebody who knows the password."""
        await self._limiter.acquire(SECOND_FACTOR, account_id)

    async def reauthenticate(self, account_id: AccountId) -> None:
        """Count an attempt of a signed-in person to prove again who they are."""
        await self._limiter.acquire(REAUTHENTICATION, account_id)

    async def request_mail(self, name: str, caller: Caller) -> None:
        """Count a request for a mail, so that nobody's mailbox can be flooded."""
        await self._per_network(MAIL_PER_NETWORK, caller)
        await self._limiter.acquire(MAIL_PER_NAME, digest(name))

    async def claim_phone(self, account_id: AccountId) -> None:
        """Count an attempt to claim a phone number, which reveals whether another account has it."""
        await self._limiter.acquire(PHONE_CLAIM, account_id)

    async def change_username(self, account_id: AccountId) -> None:
        """Count a change of username; each reserves the old name for a while."""
        await self._limiter.acquire(USERNAME_CHANGE, account_id)

    async def create_challenge(self, caller: Caller) -> None:
        """Count an anonymous request that makes us store a challenge."""
        await self._per_network(SIGN_IN_PER_NETWORK, caller)

    async def check_username(self, caller: Caller) -> None:
        """Count an anonymous question whether a username is free."""
        await self._per_network(USERNAME_CHECK, caller)

    async def _per_network(self, limit: RateLimit, caller: Caller) -> None:
        if caller.network:
            await self._limiter.acquire(limit, caller.network)


def digest(identifier: str) -> str:
    """A fixed-length key for what was typed as a name: people type passwords into the wrong field."""
    folded = identifier.strip().lower().encode(errors="replace")
    return hashlib.sha256(folded).hexdigest()[:32]
