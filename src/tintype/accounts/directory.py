"""Finding accounts: by id from the cache, by any of the names they go by."""

from collections.abc import Iterable

from tintype.accounts.contacts import check_email, check_phone, email_key, phone_key
from tintype.accounts.errors import AccountNotFound, EmailRefused, PhoneRefused
from tintype.accounts.ground import Ground
from tintype.accounts.models import Account
from tintype.accounts.names import USERNAME, fold_username
from tintype.accounts.store import QUERIES
from tintype.base.cache import Kind, Source
from tintype.base.ids import AccountId, has_shard

CARDS = Kind("account", Account, ttl_s=300, decoded_here=20_000)


class Directory:
    """Everybody who is here."""

    def __init__(self, ground: Ground) -> None:
        self._ground = ground
        self.cards = Source(CARDS, self._load)
        self.near = ground.cache.shelf(CARDS).here

    async def find_id(self, username: str) -> AccountId | None:
        """The account id behind a username, in any case of letters."""
        name = fold_username(username)
        return await self._ground.usernames.find(name) if USERNAME.fullmatch(name) else None

    async def find_by_any_name(self, identifier: str) -> AccountId | None:
        """The account id behind a username, a confirmed email address or a phone number."""
        try:
            if "@" in identifier:
                return await self._ground.keys.find_backed(email_key(check_email(identifier)))
            if identifier.strip().startswith("+"):
                return await self._ground.keys.find_backed(phone_key(check_phone(identifier)))
        except (EmailRefused, PhoneRefused):
            return None
        return await self.find_id(identifier)

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
        known = [account_id for account_id in set(ids) if has_shard(self._ground.shards, account_id)]
        return await self._ground.cache.get_many(CARDS, known, self._load)

    async def are_others(self, account_id: AccountId, *, besides: frozenset[str]) -> bool:
        """Whether anybody is here but this account and those who go by these names: the first one found will do."""
        shards, names = self._ground.shards, sorted(besides)
        for number in sorted(shards.map.owners):
            found = await shards.shard(number).fetch_value(
                QUERIES.find_other, account_id=account_id, besides=names
            )
            if found is not None:
                return True
        return False

    async def forget(self, *ids: AccountId) -> None:
        """Read these accounts anew: something about them was changed and committed."""
        await self._ground.cache.forget(CARDS, *ids)

    async def _load(self, ids: list[AccountId]) -> dict[AccountId, Account]:
        gathered = await self._ground.shards.gather(QUERIES.gather_accounts, ids)
        return {AccountId(row["id"]): Account(**row) for row in gathered.complete()}
