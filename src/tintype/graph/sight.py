"""What a viewer may see: every read goes through here. What may not be seen answers as what does not exist."""

from collections.abc import Iterable

from tintype.accounts import AccountNotFound, Accounts
from tintype.base.ids import AccountId
from tintype.graph.relations import Seen, may_know, relation_or_stranger
from tintype.graph.service import Graph


class Sight:
    """Accounts as one viewer sees them; a guest (None) sees what a stranger sees."""

    def __init__(self, accounts: Accounts, graph: Graph) -> None:
        self._accounts, self._graph = accounts, graph

    async def of(self, viewer: AccountId | None, ids: Iterable[AccountId]) -> dict[AccountId, Seen]:
        """Those of the accounts that the viewer may know of: in use, and no block between the two."""
        wanted = set(ids)
        accounts = await self._accounts.find_many(wanted)
        relations = await self._graph.relations(viewer, accounts)
        seen = {
            each: Seen(account, relation_or_stranger(relations, each)) for each, account in accounts.items()
        }
        return {each: one for each, one in seen.items() if may_know(one.account, one.relation)}

    async def content_of(self, viewer: AccountId | None, ids: Iterable[AccountId]) -> dict[AccountId, Seen]:
        """Those of the accounts whose posts, stories and comments the viewer may see."""
        return {each: one for each, one in (await self.of(viewer, ids)).items() if one.shows_content}

    async def get(self, viewer: AccountId | None, account_id: AccountId) -> Seen:
        """One account, or the refusal that a missing one gets."""
        found = (await self.of(viewer, [account_id])).get(account_id)
        if found is None:
            raise AccountNotFound
        return found
