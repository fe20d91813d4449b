"""What an account looks like to the rest of the house."""

import re
from typing import Literal

import msgspec

from tintype.accounts.errors import PasswordRefused, UsernameRefused
from tintype.base.ids import AccountId

SHORTEST_PASSWORD, LONGEST_PASSWORD = 8, 256
LONGEST_FULL_NAME = 100
USERNAME = re.compile(r"[a-z0-9_](?:[a-z0-9_]|\.(?!\.|$)){0,29}")
RESERVED = frozenset(
    """
    about account accounts admin api app assets create direct explore feed help login logout media me moderator
    null official p posts reels root search security settings signup stories support system tags tintype
    undefined www
    """.split()  # noqa: SIM905 - a paragraph reads better than a column of quotes
)


Status = Literal["active", "deactivated", "suspended", "leaving", "gone"]
"""`leaving` can be taken back by signing in; `gone` cannot: what is theirs is being erased."""
Role = Literal["person", "moderator", "operator"]


class Account(msgspec.Struct, frozen=True):
    """An account as others may see it."""

    id: AccountId
    username: str
    full_name: str
    bio: str
    website: str
    avatar_folder: str | None
    status: Status
    role: Role
    is_private: bool
    is_verified: bool
    post_count: int
    follower_count: int
    following_count: int

    @property
    def is_active(self) -> bool:
        """Whether the account is in use: neither suspended nor on its way out."""
        return self.status == "active"

    @property
    def is_moderator(self) -> bool:
        """Whether it may act on what others post."""
        return self.role in {"moderator", "operator"}


class SignedIn(msgspec.Struct, frozen=True):
    """A fresh session: the token is shown once and kept here only as a hash."""

    account: Account
    token: str


def check_username(text: str) -> str:
    """The username in its one stored form (lower case), or a refusal."""
    username = text.strip().lower()
    if not USERNAME.fullmatch(username) or username in RESERVED:
        raise UsernameRefused
    return username


def check_password(password: str) -> None:
    """Refuse passwords that are too short to protect or too long to hash."""
    if not SHORTEST_PASSWORD <= len(password) <= LONGEST_PASSWORD:
        raise PasswordRefused
