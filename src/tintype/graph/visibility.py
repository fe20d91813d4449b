"""Accounts as a viewer may see them: `visibility_rules.py` applied to accounts and relations read here."""

from collections.abc import Iterable

from tintype.accounts import Account, AccountNotFound, Accounts
from tintype.base.ids import AccountId
from tintype.graph.relations import VisibleAccount, is_account_visible, relation_or_stranger
from tintype.graph.service import Graph


class Visibility:
    """Finds accounts for one viewer; a guest (None) sees what a stranger sees."""

    def __init__(self, accounts: Accounts, graph: Graph) -> None:
        self._accounts, self._graph = accounts, graph

    async def find_accounts(
        self, viewer: AccountId | None, ids: Iterable[AccountId], *, with_counts: bool = False
    ) -> dict[AccountId, VisibleAccount]:
        """Those of the accounts that the viewer may see: active, and no block between the two."""
        accounts = await self._accounts.find_many(set(ids))
        if with_counts:
            accounts = await self._accounts.add_counts(accounts)
        relations = await self._graph.relations(viewer, accounts)
        found = {
            each: VisibleAccount(account, relation_or_stranger(relations, each))
            for each, account in accounts.items()
        }
        return {each: one for each, one in found.items() if is_account_visible(one.account, one.relation)}

    async def find_unfiltered(self, ids: Iterable[AccountId]) -> dict[AccountId, Account]:
        """Those of the accounts that exist, in any status, whoever may see them: for background work."""
        return await self._accounts.find_many(ids)

    async def find_content_owners(
        self, viewer: AccountId | None, ids: Iterable[AccountId]
    ) -> dict[AccountId, VisibleAccount]:
        """Those of the accounts whose posts, stories and comments the viewer may see."""
        found = await self.find_accounts(viewer, ids)
        return {each: one for each, one in found.items() if one.shows_content}

    async def get_account(self, viewer: AccountId | None, account_id: AccountId) -> VisibleAccount:
        """One account that the viewer may see, or `AccountNotFound`."""
        found = (await self.find_accounts(viewer, [account_id])).get(account_id)
        if found is None:
            raise AccountNotFound
        return found
