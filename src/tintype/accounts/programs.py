"""Tokens for programs: they can do what their scopes name and nothing else, and never make or change credentials."""

from collections.abc import Collection

import msgspec

from tintype.accounts.errors import SessionNotFound, TokenRefused
from tintype.accounts.ground import Ground
from tintype.accounts.models import Session
from tintype.accounts.sessions import Sessions
from tintype.accounts.store import QUERIES
from tintype.accounts.tokens import hash_token, make_token
from tintype.base.errors import Conflict
from tintype.base.ids import AccountId
from tintype.base.log import get_log

LONGEST_NAME, LONGEST_LIFE_DAYS, MOST_TOKENS = 100, 366, 50
log = get_log("accounts")


class TooManyTokens(Conflict):
    """There are 50 tokens already; end one first."""

    code = "too_many_tokens"


class Programs:
    """Makes, lists and ends tokens for programs."""

    def __init__(self, ground: Ground, sessions: Sessions) -> None:
        self._ground, self._sessions = ground, sessions

    async def make(
        self, account_id: AccountId, name: str, *, scopes: Collection[str], known: Collection[str], days: int
    ) -> tuple[Session, str]:
        """A token, shown this once. `known` are the scopes there are."""
        name, chosen = name.strip(), sorted(set(scopes))
        is_named = 0 < len(name) <= LONGEST_NAME and "\0" not in name
        if not is_named or not chosen or set(chosen) - set(known) or not 1 <= days <= LONGEST_LIFE_DAYS:
            raise TokenRefused
        token = make_token(account_id)
        async with self._ground.shards.owner(account_id).begin() as tx:
            await tx.fetch_one(QUERIES.lock_account, id=account_id)
            if await tx.fetch_value(QUERIES.count_tokens, account_id=account_id) >= MOST_TOKENS:
                raise TooManyTokens
            row = await tx.fetch_one(
                QUERIES.create_token,
                token_hash=hash_token(token),
                account_id=account_id,
                days=days,
                name=name,
                scopes=chosen,
            )
        log.info("token.made", account_id=account_id, scopes=chosen)
        return msgspec.convert(dict(row or {}), Session), token

    async def list(self, account_id: AccountId) -> list[Session]:
        """The tokens somebody made for programs."""
        rows = await self._ground.shards.owner(account_id).fetch(
            QUERIES.list_sessions, account_id=account_id, of_programs=True
        )
        return [msgspec.convert(dict(row), Session) for row in rows]

    async def end(self, account_id: AccountId, token_id: int) -> None:
        """End one of them, effective at once."""
        if token_id not in {each.id for each in await self.list(account_id)}:
            raise SessionNotFound
        await self._sessions.end(account_id, token_id)
