"""Sessions: who holds which token, for how long, and how sessions end.

Tokens are looked up in the cache, so authenticating a request costs no read of PostgreSQL. Ending a session invalidates
the cached entry for all processes right after the commit; a process that dies between the two is covered by the event
`SessionsEnded`.
"""

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import msgspec

from shardwright.routing import Transaction
from tintype.accounts.dependencies import AccountsDependencies
from tintype.accounts.errors import SessionNotFound
from tintype.accounts.events import SessionsEnded
from tintype.accounts.models import Account, AuthenticatedSession, Session
from tintype.accounts.store import QUERIES
from tintype.accounts.tokens import account_of, hash_token, make_token
from tintype.base.ids import AccountId, has_shard
from tintype.base.log import get_log
from tintype.redis.leased_cache import CacheKind, CacheSource
from tintype.redis.tracked_read import TrackedRead

if TYPE_CHECKING:
    from asyncpg import Record

SESSION_DAYS = 90
MAX_DEVICE_LENGTH = 100
LAST_SEEN_EVERY = timedelta(minutes=10)
RENEW_AFTER = timedelta(days=7)
REPLACED_GRACE_S = 3_600
SESSIONS = CacheKind("session", AuthenticatedSession, ttl_s=300, max_decoded=20_000, parse_id=str)
log = get_log("accounts")


class Sessions:
    """Starts, finds, lists, renews and ends sessions."""

    def __init__(self, deps: AccountsDependencies) -> None:
        self._deps = deps
        self._client_cached: Mapping[str, AuthenticatedSession | None] = deps.cache.region(SESSIONS).values

    async def start(self, tx: Transaction, account_id: AccountId, *, device: str = "") -> str:
        """The token of a new session, valid once this transaction has committed."""
        token = make_token(account_id)
        await tx.execute(
            QUERIES.create_session,
            token_hash=hash_token(token),
            account_id=account_id,
            days=SESSION_DAYS,
            name=device[:MAX_DEVICE_LENGTH],
        )
        return token

    async def find(self, token: str) -> AuthenticatedSession | None:
        """The session of a token, unless it has ended or expired."""
        account_id = self._account_id(token)
        if account_id is None:
            return None
        source, key = self._source(token, account_id)
        [found] = await self._deps.cache.get_several_kinds((source, [key]))
        return await self._check(found.get(key), token)

    async def authenticate(
        self, token: str, accounts: CacheSource[AccountId, Account]
    ) -> tuple[AuthenticatedSession, Account] | None:
        """The session of a token and its account, active or suspended, after one round trip to Redis."""
        account_id = self._account_id(token)
        if account_id is None:
            return None
        source, key = self._source(token, account_id)
        found, people = await self._deps.cache.get_current((source, [key]), (accounts, [account_id]))
        session, account = await self._check(found.get(key), token), people.get(account_id)
        if session is None or account is None or session.account_id != account_id:
            return None
        return (session, account) if account.may_sign_in else None

    async def authenticate_hash(
        self, token_hash: bytes, account_id: AccountId, accounts: CacheSource[AccountId, Account]
    ) -> tuple[AuthenticatedSession, Account] | None:
        """As `authenticate`, for who holds a signed statement about a session instead of its token."""
        if not has_shard(self._deps.shards, account_id):
            return None
        source, key = self._source_of_hash(token_hash, account_id), token_hash.hex()
        found, people = await self._deps.cache.get_current((source, [key]), (accounts, [account_id]))
        session, account = found.get(key), people.get(account_id)
        if session is None or account is None or session.account_id != account_id:
            return None
        is_current = session.expires_at > datetime.now(UTC) and account.may_sign_in
        return (session, account) if is_current else None

    def authenticate_cached(
        self, token_hash: str, accounts: Mapping[AccountId, Account | None]
    ) -> tuple[AuthenticatedSession, Account] | None:
        """As `authenticate`, from the client-side cache alone; `redis/client_cache.py` says who may rely on it."""
        session = self._client_cached.get(token_hash)
        account = accounts.get(session.account_id) if session is not None else None
        if session is None or account is None or not account.is_active:
            return None
        now = datetime.now(UTC)
        is_current = session.expires_at > now and now - session.last_seen_at <= LAST_SEEN_EVERY
        return (session, account) if is_current else None

    async def load_client_cache(self, token: str, accounts: CacheSource[AccountId, Account]) -> None:
        """Read the session of a token and its account into the client-side cache, if they exist."""
        account_id = self._account_id(token)
        if account_id is None:
            return
        source, key = self._source(token, account_id)
        cache = self._deps.cache
        with contextlib.closing(TrackedRead(cache.redis_client)) as read:
            read.add(cache.read_command(SESSIONS, [key]), cache.region(SESSIONS), [key])
            read.add(
                cache.read_command(accounts.kind, [account_id]), cache.region(accounts.kind), [account_id]
            )
            session_reply, account_reply = await read.execute()
            await cache.resolve(source, [key], session_reply, read)
            await cache.resolve(accounts, [account_id], account_reply, read)

    async def list(self, account_id: AccountId) -> list[Session]:
        """An account's sessions, the most recently used first; API tokens are not among them."""
        rows = await self._deps.shards.owner(account_id).fetch(
            QUERIES.list_sessions, account_id=account_id, of_programs=False
        )
        return [msgspec.convert(dict(row), Session) for row in rows]

    async def end(self, account_id: AccountId, session_id: int) -> None:
        """End one session or API token of an account, effective at once."""
        async with self._deps.shards.owner(account_id).begin() as tx:
            rows = await tx.fetch(QUERIES.end_session, account_id=account_id, id=session_id)
            if not rows:
                raise SessionNotFound
            await self._announce(tx, SessionsEnded(account_id, _ids(rows), _hashes(rows)))

    async def end_by_token(self, token: str) -> None:
        """Sign out; doing it twice is no error."""
        session = await self.find(token)
        if session is not None:
            with contextlib.suppress(SessionNotFound):
                await self.end(session.account_id, session.session_id)

    async def end_others(self, session: AuthenticatedSession, *, keeps_tokens: bool) -> None:
        """End every session of the account but this one, and its API tokens unless they are kept."""
        async with self._deps.shards.owner(session.account_id).begin() as tx:
            await self.end_others_in(tx, session, keeps_tokens=keeps_tokens)

    async def end_others_in(
        self, tx: Transaction, session: AuthenticatedSession, *, keeps_tokens: bool
    ) -> None:
        """End every other session, and API tokens unless they are kept, when this transaction commits."""
        rows = await tx.fetch(
            QUERIES.end_sessions,
            account_id=session.account_id,
            except_id=session.session_id,
            of_programs=not keeps_tokens,
        )
        if rows:
            await self._announce(tx, SessionsEnded(session.account_id, _ids(rows), _hashes(rows)))

    async def end_all_in(self, tx: Transaction, account_id: AccountId) -> None:
        """End all sessions and API tokens of an account when this transaction commits."""
        rows = await tx.fetch(QUERIES.end_sessions, account_id=account_id, except_id=0, of_programs=True)
        await self._announce(tx, SessionsEnded(account_id, (), _hashes(rows)))

    async def renew(self, token: str) -> str | None:
        """A new token for the same session; the old one works for another hour. None if it was renewed already."""
        account_id = self._account_id(token)
        if account_id is None:
            return None
        async with self._deps.shards.owner(account_id).begin() as tx:
            row = await tx.fetch_one(
                QUERIES.replace_session, token_hash=hash_token(token), grace_s=REPLACED_GRACE_S
            )
            if row is None:
                return None
            new_token = make_token(account_id)
            await tx.execute(
                QUERIES.create_replacement, token_hash=hash_token(new_token), days=SESSION_DAYS, **dict(row)
            )
        await self._invalidate(token)
        return new_token

    async def exchange(self, token: str) -> str:
        """A new token for the same session, or `SessionNotFound` if it was exchanged already."""
        new_token = await self.renew(token)
        if new_token is None:
            raise SessionNotFound("That token was exchanged already.")
        return new_token

    async def invalidate_ended(self, ended: SessionsEnded) -> None:
        """Drop ended sessions from the cache; repeated by the event for a process that died after its commit."""
        await self._deps.cache.invalidate(SESSIONS, *ended.token_hashes)

    def _account_id(self, token: str) -> AccountId | None:
        account_id = account_of(token)
        return account_id if account_id is not None and has_shard(self._deps.shards, account_id) else None

    def _source(
        self, token: str, account_id: AccountId
    ) -> tuple[CacheSource[str, AuthenticatedSession], str]:
        token_hash = hash_token(token)
        return self._source_of_hash(token_hash, account_id), token_hash.hex()

    def _source_of_hash(
        self, token_hash: bytes, account_id: AccountId
    ) -> CacheSource[str, AuthenticatedSession]:
        async def load(keys: Sequence[str]) -> dict[str, AuthenticatedSession]:
            row = await self._deps.shards.owner(account_id).fetch_one(
                QUERIES.find_session, token_hash=token_hash
            )
            return {keys[0]: msgspec.convert(dict(row), AuthenticatedSession)} if row else {}

        return CacheSource(SESSIONS, load)

    async def _check(self, session: AuthenticatedSession | None, token: str) -> AuthenticatedSession | None:
        now = datetime.now(UTC)
        if session is None or session.expires_at <= now:
            return None
        if now - session.last_seen_at > LAST_SEEN_EVERY:
            await self._record_seen(token, session.account_id)
        return session

    async def _record_seen(self, token: str, account_id: AccountId) -> None:
        await self._deps.shards.owner(account_id).execute(
            QUERIES.record_session_seen, token_hash=hash_token(token)
        )
        await self._invalidate(token)

    async def _invalidate(self, token: str) -> None:
        await self._deps.cache.invalidate(SESSIONS, hash_token(token).hex())

    async def _announce(self, tx: Transaction, ended: SessionsEnded) -> None:
        await self._deps.outbox.add(tx, ended)

        async def invalidate(_server: str) -> None:
            await self.invalidate_ended(ended)

        tx.after_commit(invalidate)


def needs_renewal(session: AuthenticatedSession) -> bool:
    """Whether the token is old enough to be replaced by a new one."""
    return not session.is_replaced and datetime.now(UTC) - session.renewed_at > RENEW_AFTER


def _ids(rows: "Iterable[Record]") -> tuple[str, ...]:
    return tuple(sorted({str(row["id"]) for row in rows}))


def _hashes(rows: "Iterable[Record]") -> tuple[str, ...]:
    return tuple(row["token_hash"].hex() for row in rows)
