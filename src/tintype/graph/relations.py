"""A viewer's relation to another account, and what the visibility rules make of it."""

import msgspec

from tintype.accounts import Account
from tintype.base.ids import AccountId
from tintype.graph import visibility_rules


class Relation(msgspec.Struct, frozen=True, kw_only=True):
    """A viewer's relation to another account."""

    is_self: bool = False
    follows: bool = False
    """The viewer follows them; a private account has approved it."""
    has_requested: bool = False
    """The viewer asked to follow and waits for approval."""
    follows_viewer: bool = False
    blocks: bool = False
    """The viewer has blocked them."""
    is_blocked: bool = False
    """They have blocked the viewer. Never shown to the viewer."""
    mutes_posts: bool = False
    mutes_stories: bool = False
    is_close_friend: bool = False
    """The viewer counts them among their close friends."""
    restricts: bool = False
    """The viewer has restricted them."""

    @property
    def has_block(self) -> bool:
        """Whether either of the two has blocked the other."""
        return self.blocks or self.is_blocked


STRANGER = Relation()
ONESELF = Relation(is_self=True)


class VisibleAccount(msgspec.Struct, frozen=True):
    """An account together with the viewer's relation to it."""

    account: Account
    relation: Relation

    @property
    def shows_content(self) -> bool:
        """Whether the viewer may see its posts, stories, comments and lists, and not only its name."""
        return visibility_rules.may_see_content(
            is_self=self.relation.is_self,
            is_active=self.account.is_active,
            has_block=self.relation.has_block,
            is_private=self.account.is_private,
            follows=self.relation.follows,
        )

    @property
    def is_public(self) -> bool:
        """Whether everybody may see its content."""
        return visibility_rules.is_public(
            is_active=self.account.is_active, is_private=self.account.is_private
        )


def is_account_visible(account: Account, relation: Relation) -> bool:
    """Whether the viewer may learn that this account exists."""
    return visibility_rules.may_see_account(
        is_self=relation.is_self, is_active=account.is_active, has_block=relation.has_block
    )


def relation_or_stranger(found: dict[AccountId, Relation], target: AccountId) -> Relation:
    """The relation to an account; a stranger where none was found."""
    return found.get(target, STRANGER)
