"""How often one may knock: limits on joining, signing in and asking for mails.

Everything is counted before the answer is known, and by what was sent, not by what exists: a limit tells nobody
whether an account is there. See docs/adr/0014 for why these three circles.
"""

import hashlib

from tintype.accounts.devices import Devices
from tintype.accounts.models import Caller
from tintype.base.ids import AccountId
from tintype.base.limits import Limiter, Rule

JOINING = Rule("join", count=10, per_s=3_600)
SIGNING_IN_NETWORK = Rule("sign-in-network", count=60, per_s=600)
SIGNING_IN_PAIR = Rule("sign-in-pair", count=10, per_s=600)
SIGNING_IN_NAME = Rule("sign-in-name", count=100, per_s=3_600)
SIGNING_IN_DEVICE = Rule("sign-in-device", count=10, per_s=300)
SECOND_FACTOR = Rule("second-factor", count=10, per_s=600)
PROOF = Rule("proof", count=10, per_s=600)
ASKING_NETWORK = Rule("mail-network", count=20, per_s=3_600)
ASKING_NAME = Rule("mail-name", count=3, per_s=1_800)
CLAIMING = Rule("claim", count=10, per_s=86_400)
LOOKING = Rule("look-up", count=100, per_s=600)
RENAMING = Rule("rename", count=3, per_s=14 * 86_400)


class Doors:
    """Counts knocks."""

    def __init__(self, limiter: Limiter, devices: Devices) -> None:
        self._limiter, self._devices = limiter, devices

    async def join(self, caller: Caller) -> None:
        """Somebody wants an account."""
        await self._by_network(JOINING, caller)

    async def sign_in(self, identifier: str, account_id: AccountId | None, caller: Caller) -> None:
        """Somebody wants in: counted per network, per name and network, and per name; a known device by itself."""
        await self._by_network(SIGNING_IN_NETWORK, caller)
        known = self._devices.recognise(caller.device_token, account_id) if account_id else None
        if known is not None:
            return await self._limiter.take(SIGNING_IN_DEVICE, known)
        name = digest(identifier)
        await self._limiter.take(SIGNING_IN_PAIR, f"{name}:{caller.network}")
        return await self._limiter.take(SIGNING_IN_NAME, name)

    async def signed_in(self, identifier: str, caller: Caller) -> None:
        """It was them: their earlier tries from here are forgiven."""
        await self._limiter.forgive(SIGNING_IN_PAIR, f"{digest(identifier)}:{caller.network}")

    async def second_factor(self, account_id: AccountId) -> None:
        """A code is tried by somebody who knows the password."""
        await self._limiter.take(SECOND_FACTOR, account_id)

    async def prove(self, account_id: AccountId) -> None:
        """Somebody signed in proves once more who they are."""
        await self._limiter.take(PROOF, account_id)

    async def ask_for_mail(self, name: str, caller: Caller) -> None:
        """A mail is asked for: nobody's mailbox is flooded from here."""
        await self._by_network(ASKING_NETWORK, caller)
        await self._limiter.take(ASKING_NAME, digest(name))

    async def claim(self, account_id: AccountId) -> None:
        """A number is tried that may be somebody else's."""
        await self._limiter.take(CLAIMING, account_id)

    async def rename(self, account_id: AccountId) -> None:
        """A name is given up, and kept from others for a while."""
        await self._limiter.take(RENAMING, account_id)

    async def ask(self, caller: Caller) -> None:
        """A stranger asks a question that costs us a row."""
        await self._by_network(SIGNING_IN_NETWORK, caller)

    async def look_up(self, caller: Caller) -> None:
        """A stranger asks whether a name is free."""
        await self._by_network(LOOKING, caller)

    async def _by_network(self, rule: Rule, caller: Caller) -> None:
        if caller.network:
            await self._limiter.take(rule, caller.network)


def digest(identifier: str) -> str:
    """An identifier as a key of fixed length: people type passwords into the wrong field."""
    folded = identifier.strip().lower().encode(errors="replace")
    return hashlib.sha256(folded).hexdigest()[:32]
