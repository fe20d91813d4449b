"""One-time challenges, answered within minutes: by a passkey, or by a second factor after the password.

They are stored in PostgreSQL and not in Redis, so that no answer is accepted twice even when Redis loses its data.
"""

import re
import secrets
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from tintype.accounts.dependencies import AccountsDependencies
from tintype.accounts.store import QUERIES
from tintype.base.ids import AccountId

Purpose = Literal["second_factor", "add_passkey", "passkey_sign_in", "passkey_proof"]
TTL_S = 300
SHAPE = re.compile(r"[A-Za-z0-9_-]{43}")


@dataclass(frozen=True)
class Challenge:
    """A challenge that was issued, for one account or for anybody."""

    account_id: AccountId | None
    created_at: datetime


class Challenges:
    """Creates challenges and accepts each once; they lie on the shard their own hash gives."""

    def __init__(self, deps: AccountsDependencies) -> None:
        self._deps = deps

    async def create(self, purpose: Purpose, account_id: AccountId | None) -> str:
        """A new challenge: 256 random bits."""
        challenge = secrets.token_urlsafe(32)
        await self._deps.shards.of(challenge).execute(
            QUERIES.add_challenge,
            challenge=challenge,
            purpose=purpose,
            account_id=account_id,
            ttl_s=float(TTL_S),
        )
        return challenge

    async def find(self, purpose: Purpose, challenge: str) -> Challenge | None:
        """A challenge that may still be answered."""
        if not SHAPE.fullmatch(challenge):
            return None
        row = await self._deps.shards.of(challenge).fetch_one(
            QUERIES.find_challenge, challenge=challenge, purpose=purpose
        )
        return Challenge(row["account_id"], row["created_at"]) if row else None

    async def consume(self, purpose: Purpose, challenge: str) -> Challenge | None:
        """Use a challenge up; None when it was used already, has expired or never existed."""
        if not SHAPE.fullmatch(challenge):
            return None
        row = await self._deps.shards.of(challenge).fetch_one(
            QUERIES.consume_challenge, challenge=challenge, purpose=purpose
        )
        return Challenge(row["account_id"], row["created_at"]) if row and row["is_fresh"] else None
