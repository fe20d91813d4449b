"""Sign-up, sign-in, and finding people."""

import asyncio
from collections.abc import Iterable
from pathlib import Path

from argon2 import PasswordHasher
from argon2.exceptions import VerificationError

from shardwright.running import Queries, Shards
from tintype.accounts.errors import AccountNotFound, CredentialsWrong, UsernameTaken
from tintype.accounts.events import SessionsEnded, StatusChanged
from tintype.accounts.models import (
    LONGEST_FULL_NAME,
    Account,
    SignedIn,
    Status,
    check_password,
    check_username,
)
from tintype.accounts.tokens import account_of, hash_token, make_token
from tintype.base.cache import Cache, Kind
from tintype.base.errors import Invalid, Unavailable
from tintype.base.ids import AccountId, has_shard
from tintype.base.limits import Limiter
from tintype.base.log import get_log
from tintype.base.outbox import Outbox

QUERIES = Queries.load(Path(__file__).with_name("queries.sql"))
SESSION_DAYS = 90
CARDS = Kind("account", Account, ttl_s=300)
log = get_log("accounts")


class Accounts:
    """Everything an account does before it meets anybody else."""

    def __init__(
        self,
        shards: Shards,
        outbox: Outbox,
        cache: Cache,
        limiter: Limiter,
        *,
        hasher: PasswordHasher | None = None,
    ) -> None:
        self._shards, self._outbox, self._cache, self._limiter = shards, outbox, cache, limiter
        self.use_hasher(hasher or PasswordHasher())

    def use_hasher(self, hasher: PasswordHasher) -> None:
        """Hash with these costs from now on; passwords hashed before stay valid."""
        self._hasher = hasher
        # Checked when the name is unknown, so that the answer takes as long as for a known one.
        self._no_ones_hash = hasher.hash("nobody's password")

    async def sign_up(self, username: str, password: str, *, full_name: str = "") -> SignedIn:
        """Create an account under a username that nobody else has, and sign it in.

        Username and account live on different shards, so the name is claimed first, for an id drawn ahead; a claim
        without an account (we were killed in between) is taken over by the next one who asks for the name.
        """
        username = check_username(username)
        check_password(password)
        if len(full_name) > LONGEST_FULL_NAME:
            raise Invalid(f"A full name has at most {LONGEST_FULL_NAME} characters.")
        password_hash = await asyncio.to_thread(self._hasher.hash, password)
        home = self._shards.place()
        account_id = AccountId(await home.fetch_value(QUERIES.draw_account_id))
        await self._claim(username, account_id)
        row = await home.fetch_one(
            QUERIES.create_account,
            id=account_id,
            username=username,
            full_name=full_name,
            password_hash=password_hash,
        )
        if row is None:
            raise Unavailable("Signing up took too long; please try again in a minute.")
        log.info("account.created", account_id=account_id, shard=home.number)
        return await self._start_session(Account(**row))

    async def sign_in(self, username: str, password: str) -> SignedIn:
        """Start a session, or refuse in the same way and time whether the name or the password is wrong."""
        account_id = await self.find_id(username)
        stored = None
        if account_id is not None:
            stored = await self._shards.owner(account_id).fetch_value(QUERIES.find_password, id=account_id)
        is_right = await asyncio.to_thread(self._verify, stored or self._no_ones_hash, password)
        if account_id is None or stored is None or not is_right:
            raise CredentialsWrong
        return await self._start_session(await self.get(account_id))

    async def sign_out(self, token: str) -> None:
        """End the session of this token; ending it twice is no error."""
        account_id = account_of(token)
        if account_id is not None:
            await self._shards.owner(account_id).execute(QUERIES.end_session, token_hash=hash_token(token))

    async def find_session(self, token: str) -> Account | None:
        """The account that this token speaks for, if it still does."""
        account_id = account_of(token)
        if account_id is None or not has_shard(self._shards, account_id):
            return None
        row = await self._shards.owner(account_id).fetch_one(
            QUERIES.find_session, token_hash=hash_token(token)
        )
        return Account(**row) if row else None

    async def find_id(self, username: str) -> AccountId | None:
        """The account id behind a username, in any case of letters."""
        name = username.strip().lower()
        row = await self._shards.of(name).fetch_one(QUERIES.find_claim, username=name)
        return AccountId(row["account_id"]) if row else None

    async def get(self, account_id: AccountId) -> Account:
        """One account, in use or not."""
        found = (await self.find_many([account_id])).get(account_id)
        if found is None:
            raise AccountNotFound
        return found

    async def get_by_name(self, username: str) -> Account:
        """One account by its username."""
        account_id = await self.find_id(username)
        if account_id is None:
            raise AccountNotFound
        return await self.get(account_id)

    async def find_many(self, ids: Iterable[AccountId]) -> dict[AccountId, Account]:
        """Those of the accounts that exist, in use or not: from the cache, the rest in one round trip per server."""
        known = [account_id for account_id in set(ids) if has_shard(self._shards, account_id)]
        return await self._cache.get_many(CARDS, known, self._load)

    async def set_status(self, account_id: AccountId, status: Status) -> None:
        """Take an account out of use, which ends its sessions at once, or put it back into use."""
        async with self._shards.owner(account_id).begin() as tx:
            if await tx.fetch_one(QUERIES.set_status, id=account_id, status=status) is not None:
                await self._outbox.add(tx, StatusChanged(account_id, status))
                if status != "active":
                    await tx.execute(QUERIES.end_sessions, account_id=account_id)
                    await self._outbox.add(tx, SessionsEnded(account_id))
        await self.forget(account_id)

    async def forget(self, *ids: AccountId) -> None:
        """Read these accounts anew: something about them was changed and committed."""
        await self._cache.forget(CARDS, *ids)

    async def _load(self, ids: list[AccountId]) -> dict[AccountId, Account]:
        gathered = await self._shards.gather(QUERIES.gather_accounts, ids)
        return {AccountId(row["id"]): Account(**row) for row in gathered.complete()}

    async def _claim(self, username: str, account_id: AccountId) -> None:
        shard = self._shards.of(username)
        if await shard.fetch_one(QUERIES.claim_username, username=username, account_id=account_id):
            return
        claim = await shard.fetch_one(QUERIES.find_claim, username=username)
        if claim is None or not claim["is_old"]:
            raise UsernameTaken
        stale_id = AccountId(claim["account_id"])
        if await self._shards.owner(stale_id).fetch_one(QUERIES.find_account, id=stale_id):
            raise UsernameTaken
        taken = await shard.fetch_one(
            QUERIES.take_over_claim, username=username, account_id=account_id, stale_id=stale_id
        )
        if taken is None:
            raise UsernameTaken

    async def _start_session(self, account: Account) -> SignedIn:
        token = make_token(account.id)
        await self._shards.owner(account.id).execute(
            QUERIES.create_session, token_hash=hash_token(token), account_id=account.id, days=SESSION_DAYS
        )
        return SignedIn(account, token)

    def _verify(self, stored: str, password: str) -> bool:
        try:
            return self._hasher.verify(stored, password)
        except VerificationError:
            return False
