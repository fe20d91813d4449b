"""How one person stands to another, and what follows from that: the one place that decides who may see whom."""

import msgspec

from tintype.accounts import Account
from tintype.base.ids import AccountId


class Relation(msgspec.Struct, frozen=True, kw_only=True):
    """How a viewer stands to somebody else."""

    is_self: bool = False
    follows: bool = False
    """The viewer follows them, and they have agreed where they had to."""
    has_requested: bool = False
    """The viewer asked to follow and waits."""
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


STRANGER = Relation()
ONESELF = Relation(is_self=True)


class Seen(msgspec.Struct, frozen=True):
    """An account that a viewer may know of, and how the viewer stands to it."""

    account: Account
    relation: Relation

    @property
    def shows_content(self) -> bool:
        """Whether posts, stories, comments and lists of this account may be seen, and not only its name."""
        return self.relation.is_self or not self.account.is_private or self.relation.follows


def may_know(account: Account, relation: Relation) -> bool:
    """Whether the viewer may learn that this account exists at all."""
    if relation.is_self:
        return True
    return account.is_active and not relation.blocks and not relation.is_blocked


def relation_or_stranger(found: dict[AccountId, Relation], target: AccountId) -> Relation:
    """No row about somebody means a stranger."""
    return found.get(target, STRANGER)
