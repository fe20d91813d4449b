"""Rate limits on sign-up, sign-in, proofs of identity and requests for mail.

Every attempt counts before its outcome is known, and an unknown name is limited like a known one: a limit never reveals
whether an account exists. What is counted is the account that is meant, however its name, address or number is spelled,
and whichever of the three was typed. docs/adr/0014 explains why sign-in is limited per network, per name and per pair
of both.
"""

import hashlib

from tintype.accounts.identifiers import identifier_key, mailbox_of
from tintype.accounts.known_devices import KnownDevices
from tintype.accounts.models import Caller
from tintype.base.ids import AccountId
from tintype.base.rate_limits import (
    MAIL_PER_ACCOUNT,
    MAIL_PER_NAME,
    MAIL_PER_NETWORK,
    PHONE_CLAIM,
    REAUTHENTICATION,
    SECOND_FACTOR,
    SIGN_IN_PER_DEVICE,
    SIGN_IN_PER_NAME,
    SIGN_IN_PER_NETWORK,
    SIGN_IN_PER_PAIR,
    SIGN_UP,
    USERNAME_CHANGE,
    USERNAME_CHECK,
    RateLimit,
)
from tintype.redis.rate_limits import RateLimiter


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
        name = _target(identifier, account_id)
        await self._limiter.acquire(SIGN_IN_PER_PAIR, f"{name}:{caller.network}")
        return await self._limiter.acquire(SIGN_IN_PER_NAME, name)

    async def reset_sign_in(self, account_id: AccountId, caller: Caller) -> None:
        """After a correct password: forget earlier attempts at this account from this network."""
        await self._limiter.reset(SIGN_IN_PER_PAIR, f"{_target('', account_id)}:{caller.network}")

    async def second_factor(self, account_id: AccountId) -> None:
        """Count a second-factor attempt by somebody who knows the password."""
        await self._limiter.acquire(SECOND_FACTOR, account_id)

    async def reauthenticate(self, account_id: AccountId) -> None:
        """Count an attempt of a signed-in person to prove again who they are."""
        await self._limiter.acquire(REAUTHENTICATION, account_id)

    async def request_reset(self, identifier: str, caller: Caller) -> None:
        """Count a request for a reset link by the name that was typed; the worker counts the account that has it."""
        await self._per_network(MAIL_PER_NETWORK, caller)
        await self._limiter.acquire(MAIL_PER_NAME, digest(f"reset:{identifier_key(identifier)}"))

    async def request_confirmation(self, address: str, account_id: AccountId | None, caller: Caller) -> None:
        """Count a request for a confirmation link per mailbox and per account: nobody's mailbox can be flooded."""
        await self._per_network(MAIL_PER_NETWORK, caller)
        await self._limiter.acquire(MAIL_PER_NAME, digest(mailbox_of(address)))
        if account_id is not None:
            await self._limiter.acquire(MAIL_PER_ACCOUNT, account_id)

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


def digest(text: str) -> str:
    """A fixed-length key for what was typed as a name: people type passwords into the wrong field."""
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()[:32]


def _target(identifier: str, account_id: AccountId | None) -> str:
    """The account that is meant, or a name that nobody has."""
    return f"account:{account_id}" if account_id is not None else digest(identifier_key(identifier))
