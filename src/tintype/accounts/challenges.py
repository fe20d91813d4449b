"""Questions that may be answered once, within minutes: by a passkey, or with a second factor after the password."""

import re
import secrets
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from tintype.accounts.ground import Ground
from tintype.accounts.store import QUERIES
from tintype.base.ids import AccountId

Purpose = Literal["second_factor", "add_passkey", "passkey_sign_in", "passkey_proof"]
TTL_S = 300
SHAPE = re.compile(r"[A-Za-z0-9_-]{43}")


@dataclass(frozen=True)
class Challenge:
    """A question that was asked, and of whom."""

    account_id: AccountId | None
    created_at: datetime


class Challenges:
    """Kept in PostgreSQL by the hash of the question, so that no answer is taken twice whatever Redis forgets."""

    def __init__(self, ground: Ground) -> None:
        self._ground = ground

    async def ask(self, purpose: Purpose, account_id: AccountId | None) -> str:
        """A new question: 256 random bits."""
        challenge = secrets.token_urlsafe(32)
        await self._ground.shards.of(challenge).execute(
            QUERIES.add_challenge,
            challenge=challenge,
            purpose=purpose,
            account_id=account_id,
            ttl_s=float(TTL_S),
        )
        return challenge

    async def find(self, purpose: Purpose, challenge: str) -> Challenge | None:
        """A question that may still be answered."""
        if not SHAPE.fullmatch(challenge):
            return None
        row = await self._ground.shards.of(challenge).fetch_one(
            QUERIES.find_challenge, challenge=challenge, purpose=purpose
        )
        return Challenge(row["account_id"], row["created_at"]) if row else None

    async def take(self, purpose: Purpose, challenge: str) -> Challenge | None:
        """The same, and nobody can answer it after this."""
        if not SHAPE.fullmatch(challenge):
            return None
        row = await self._ground.shards.of(challenge).fetch_one(
            QUERIES.take_challenge, challenge=challenge, purpose=purpose
        )
        return Challenge(row["account_id"], row["created_at"]) if row and row["is_fresh"] else None
