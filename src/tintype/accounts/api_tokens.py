"""API tokens for programs: limited to the scopes they name, and never allowed to create or change credentials."""

from collections.abc import Collection

import msgspec

from tintype.accounts.dependencies import AccountsDependencies
from tintype.accounts.errors import SessionNotFound, TokenRefused, TooManyTokens
from tintype.accounts.mail_queue import MailQueue
from tintype.accounts.models import Session
from tintype.accounts.sessions import Sessions
from tintype.accounts.store import QUERIES
from tintype.accounts.tokens import hash_token, make_token
from tintype.base.ids import AccountId
from tintype.base.invisible_characters import remove_invisible
from tintype.base.log import get_log

MAX_NAME_LENGTH, MAX_LIFETIME_DAYS, MAX_TOKENS = 100, 366, 50
log = get_log("accounts")


class ApiTokens:
    """Creates, lists and revokes API tokens; each is a session with scopes."""

    def __init__(self, deps: AccountsDependencies, sessions: Sessions, mail_queue: MailQueue) -> None:
        self._deps, self._sessions, self._mail_queue = deps, sessions, mail_queue

    async def create(
        self, account_id: AccountId, name: str, *, scopes: Collection[str], known: Collection[str], days: int
    ) -> tuple[Session, str]:
        """A new token, shown this once. `known` are all scopes that exist."""
        shown, chosen = " ".join(remove_invisible(name).split()), sorted(set(scopes))
        is_named = 0 < len(shown) <= MAX_NAME_LENGTH and "\0" not in name
        if not is_named or not chosen or set(chosen) - set(known) or not 1 <= days <= MAX_LIFETIME_DAYS:
            raise TokenRefused
        token = make_token(account_id)
        async with self._deps.shards.owner(account_id).begin() as tx:
            await tx.fetch_one(QUERIES.lock_account, id=account_id)
            if await tx.fetch_value(QUERIES.count_tokens, account_id=account_id) >= MAX_TOKENS:
                raise TooManyTokens
            row = await tx.fetch_one(
                QUERIES.create_token,
                token_hash=hash_token(token),
                account_id=account_id,
                days=days,
                name=shown,
                scopes=chosen,
            )
            await self._mail_queue.notify(tx, account_id, "token_created", detail=shown)
        log.info("token.created", account_id=account_id, scopes=chosen)
        return msgspec.convert(dict(row or {}), Session), token

    async def list(self, account_id: AccountId) -> list[Session]:
        """An account's API tokens, the most recently used first."""
        rows = await self._deps.shards.owner(account_id).fetch(
            QUERIES.list_sessions, account_id=account_id, of_programs=True
        )
        return [msgspec.convert(dict(row), Session) for row in rows]

    async def revoke(self, account_id: AccountId, token_id: int) -> None:
        """End one API token, effective at once."""
        if token_id not in {each.id for each in await self.list(account_id)}:
            raise SessionNotFound
        await self._sessions.end(account_id, token_id)
