"""Who a text mentions: one rule for captions and comments.

A username counts as a mention when it belongs to an account the writer may know of; otherwise it stays plain text. A
new text with more mentions than `tintype.base.text.MAX_MENTIONS` is refused.
"""

from tintype.accounts import Accounts
from tintype.base.ids import AccountId
from tintype.base.text import check_mentions, mentioned_usernames
from tintype.graph.visibility import Visibility


class Mentions:
    """Resolves mentions to accounts, as far as their writer may know of them."""

    def __init__(self, accounts: Accounts, visibility: Visibility) -> None:
        self._accounts, self._visibility = accounts, visibility

    async def resolve_new(self, author: AccountId, text: str) -> dict[str, AccountId]:
        """Who a text mentions that is about to be published, by username; too many mentions are refused."""
        check_mentions(text)
        return await self.resolve(author, text)

    async def resolve(self, author: AccountId, text: str) -> dict[str, AccountId]:
        """Who a stored text mentions, by username; a text from before there was a limit is cut, not refused."""
        usernames = mentioned_usernames(text)
        if not usernames:
            return {}
        found = await self._accounts.find_by_usernames(usernames)
        visible = await self._visibility.find_accounts(author, (account.id for account in found.values()))
        return {username: account.id for username, account in found.items() if account.id in visible}
