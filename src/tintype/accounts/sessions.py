"""Sessions: who holds which token, for how long, and how they end.

A token is looked up in the cache, so that a request costs no read of PostgreSQL for it; ending a session removes it
there right after the commit, for all processes. One that dies between the two is covered by the event `SessionsEnded`.
"""

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import msgspec

from shardwright.running import Transaction
from tintype.accounts.errors import SessionNotFound
from tintype.accounts.events import SessionsEnded
from tintype.accounts.ground import Ground
from tintype.accounts.models import Account, Pass, Session
from tintype.accounts.store import QUERIES
from tintype.accounts.tokens import account_of, hash_token, make_token
from tintype.base.bringing import Bringing
from tintype.base.cache import Kind, Source
from tintype.base.ids import AccountId, has_shard
from tintype.base.log import get_log

if TYPE_CHECKING:
    from asyncpg import Record

SESSION_DAYS = 90
LONGEST_DEVICE = 100
SEEN_EVERY = timedelta(minutes=10)
RENEW_AFTER = timedelta(days=7)
REPLACED_GRACE_S = 3_600
PROOF_LASTS = timedelta(minutes=15)
PASSES = Kind("session", Pass, ttl_s=300, decoded_here=20_000, read_id=str)
log = get_log("accounts")


class Sessions:
    """Starts, finds, lists, renews and ends sessions."""

    def __init__(self, ground: Ground) -> None:
        self._ground = ground
        self._near = ground.cache.shelf(PASSES).here

    async def start(self, tx: Transaction, account_id: AccountId, *, device: str = "") -> str:
        """A new session's token, valid once this transaction has committed."""
        token = make_token(account_id)
        await tx.execute(
            QUERIES.create_session,
            token_hash=hash_token(token),
            account_id=account_id,
            days=SESSION_DAYS,
            name=device[:LONGEST_DEVICE],
        )
        return token

    async def find(self, token: str) -> Pass | None:
        """What a token stands for, if it still does."""
        account_id = account_of(token)
        if account_id is None or not has_shard(self._ground.shards, account_id):
            return None
        source, key = self._source(token, account_id)
        [found] = await self._ground.cache.get_together((source, [key]))
        return await self._standing(found.get(key), token)

    async def find_with_account(
        self, token: str, cards: Source[AccountId, Account]
    ) -> tuple[Pass, Account] | None:
        """The same with whom it speaks for, in one round trip: the token says whose card to ask for."""
        account_id = account_of(token)
        if account_id is None or not has_shard(self._ground.shards, account_id):
            return None
        source, key = self._source(token, account_id)
        passes, accounts = await self._ground.cache.get_together((source, [key]), (cards, [account_id]))
        held, account = await self._standing(passes.get(key), token), accounts.get(account_id)
        if held is None or account is None or held.account_id != account_id or not account.is_active:
            return None
        return held, account

    def find_near(
        self, token_hash: str, accounts: Mapping[AccountId, Account | None]
    ) -> tuple[Pass, Account] | None:
        """A session in use and its account as far as both are near; `base/near.py` says who may rely on it."""
        held = self._near.get(token_hash)
        account = accounts.get(held.account_id) if held is not None else None
        if held is None or account is None or not account.is_active:
            return None
        now = datetime.now(UTC)
        return (held, account) if held.expires_at > now and now - held.last_seen_at <= SEEN_EVERY else None

    async def bring_near(self, token: str, cards: Source[AccountId, Account]) -> None:
        """What a token stands for is near from now on, if it stands for anything."""
        account_id = account_of(token)
        if account_id is None or not has_shard(self._ground.shards, account_id):
            return
        source, key = self._source(token, account_id)
        cache = self._ground.cache
        with contextlib.closing(Bringing(cache.wire)) as bringing:
            bringing.add(cache.command(PASSES, [key]), cache.shelf(PASSES), [key])
            bringing.add(cache.command(cards.kind, [account_id]), cache.shelf(cards.kind), [account_id])
            passes, accounts = await bringing.ask()
            await cache.settle(source, [key], passes, bringing)
            await cache.settle(cards, [account_id], accounts, bringing)

    async def list(self, account_id: AccountId) -> list[Session]:
        """The sessions somebody has, the latest used first."""
        rows = await self._ground.shards.owner(account_id).fetch(
            QUERIES.list_sessions, account_id=account_id, of_programs=False
        )
        return [msgspec.convert(dict(row), Session) for row in rows]

    async def end(self, account_id: AccountId, session_id: int) -> None:
        """End one session of an account, effective at once."""
        async with self._ground.shards.owner(account_id).begin() as tx:
            rows = await tx.fetch(QUERIES.end_session, account_id=account_id, id=session_id)
            if not rows:
                raise SessionNotFound
            await self._announce(tx, SessionsEnded(account_id, _ids(rows), _hashes(rows)))

    async def end_by_token(self, token: str) -> None:
        """Sign out; doing it twice is no error."""
        held = await self.find(token)
        if held is not None:
            with contextlib.suppress(SessionNotFound):
                await self.end(held.account_id, held.session_id)

    async def end_others(self, held: Pass) -> None:
        """End every session of this account but this one; tokens of programs stay."""
        async with self._ground.shards.owner(held.account_id).begin() as tx:
            await self.end_others_in(tx, held)

    async def end_others_in(self, tx: Transaction, held: Pass) -> None:
        """The same, when this transaction commits."""
        rows = await tx.fetch(
            QUERIES.end_sessions, account_id=held.account_id, but=held.session_id, of_programs=False
        )
        if rows:
            await self._announce(tx, SessionsEnded(held.account_id, _ids(rows), _hashes(rows)))

    async def end_all_in(self, tx: Transaction, account_id: AccountId) -> None:
        """End everything that speaks for this account, tokens of programs too, when this transaction commits."""
        rows = await tx.fetch(QUERIES.end_sessions, account_id=account_id, but=0, of_programs=True)
        await self._announce(tx, SessionsEnded(account_id, (), _hashes(rows)))

    async def renew(self, token: str) -> str | None:
        """A new token for the same session; the old one lasts an hour more. None for one that was renewed already."""
        account_id = account_of(token)
        if account_id is None or not has_shard(self._ground.shards, account_id):
            return None
        async with self._ground.shards.owner(account_id).begin() as tx:
            row = await tx.fetch_one(
                QUERIES.replace_session, token_hash=hash_token(token), grace_s=REPLACED_GRACE_S
            )
            if row is None:
                return None
            fresh = make_token(account_id)
            await tx.execute(
                QUERIES.create_replacement, token_hash=hash_token(fresh), days=SESSION_DAYS, **dict(row)
            )
        await self._ground.cache.forget(PASSES, hash_token(token).hex())
        return fresh

    async def exchange(self, token: str) -> str:
        """The same, for somebody who asks for it."""
        fresh = await self.renew(token)
        if fresh is None:
            raise SessionNotFound("That token was exchanged already.")
        return fresh

    async def prove(self, token: str, account_id: AccountId) -> None:
        """Note that the holder of this session has just proved who they are."""
        await self._ground.shards.owner(account_id).execute(
            QUERIES.prove_session, token_hash=hash_token(token)
        )
        await self._ground.cache.forget(PASSES, hash_token(token).hex())

    async def forget_ended(self, ended: SessionsEnded) -> None:
        """Once more, for a process that died between its commit and this."""
        await self._ground.cache.forget(PASSES, *ended.token_hashes)

    def _source(self, token: str, account_id: AccountId) -> tuple[Source[str, Pass], str]:
        token_hash = hash_token(token)

        async def load(keys: Sequence[str]) -> dict[str, Pass]:
            row = await self._ground.shards.owner(account_id).fetch_one(
                QUERIES.find_session, token_hash=token_hash
            )
            return {keys[0]: msgspec.convert(dict(row), Pass)} if row else {}

        return Source(PASSES, load), token_hash.hex()

    async def _standing(self, found: Pass | None, token: str) -> Pass | None:
        now = datetime.now(UTC)
        if found is None or found.expires_at <= now:
            return None
        if now - found.last_seen_at > SEEN_EVERY:
            await self._see(token, found.account_id)
        return found

    async def _see(self, token: str, account_id: AccountId) -> None:
        await self._ground.shards.owner(account_id).execute(QUERIES.see_session, token_hash=hash_token(token))
        await self._ground.cache.forget(PASSES, hash_token(token).hex())

    async def _announce(self, tx: Transaction, ended: SessionsEnded) -> None:
        await self._ground.outbox.add(tx, ended)

        async def forget(_server: str) -> None:
            await self.forget_ended(ended)

        tx.after_commit(forget)


def is_due(held: Pass) -> bool:
    """Whether this token has been in use long enough to be exchanged."""
    return not held.is_replaced and datetime.now(UTC) - held.renewed_at > RENEW_AFTER


def is_proved(held: Pass) -> bool:
    """Whether its holder proved who they are within the last minutes."""
    return held.proved_at is not None and datetime.now(UTC) - held.proved_at < PROOF_LASTS


def _ids(rows: "Iterable[Record]") -> tuple[str, ...]:
    return tuple(sorted({str(row["id"]) for row in rows}))


def _hashes(rows: "Iterable[Record]") -> tuple[str, ...]:
    return tuple(row["token_hash"].hex() for row in rows)
