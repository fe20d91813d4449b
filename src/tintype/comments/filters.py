"""The words an account filters from the comments under its posts."""

from collections.abc import Sequence

from tintype.base.ids import AccountId
from tintype.base.text import clean_line
from tintype.comments.dependencies import CommentsDependencies
from tintype.comments.errors import FiltersInvalid
from tintype.comments.models import MAX_FILTER_LENGTH, MAX_FILTERS
from tintype.comments.store import QUERIES


class WordFilters:
    """Stores each account's word filters, on the account's shard."""

    def __init__(self, dependencies: CommentsDependencies) -> None:
        self._shards = dependencies.shards

    async def list_of(self, account_id: AccountId) -> list[str]:
        """The words an account filters."""
        rows = await self._shards.owner(account_id).fetch(QUERIES.list_filters, account_id=account_id)
        return [row["word"] for row in rows]

    async def set(self, account_id: AccountId, words: Sequence[str]) -> None:
        """Replace the list; it applies to comments from now on."""
        wanted = sorted({clean_line(word) for word in words})
        if len(wanted) > MAX_FILTERS or not all(1 <= len(word) <= MAX_FILTER_LENGTH for word in wanted):
            raise FiltersInvalid
        async with self._shards.owner(account_id).begin() as tx:
            await tx.execute(QUERIES.delete_filters, account_id=account_id)
            await tx.execute(QUERIES.add_filters, account_id=account_id, words=wanted)
