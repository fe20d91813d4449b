"""What an account looks like to the rest of the house."""

from datetime import datetime
from typing import Literal

import msgspec

from tintype.base.ids import AccountId

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


class PrivateDetails(msgspec.Struct, frozen=True):
    """What only its owner sees of an account."""

    email: str | None
    pending_email: str | None
    phone: str | None
    role: Role
    password_changed_at: datetime | None
    has_totp: bool
    recovery_code_count: int
    passkey_count: int


class SignedIn(msgspec.Struct, frozen=True):
    """A fresh session: the token is shown once and kept here only as a hash."""

    account: Account
    token: str


class Pass(msgspec.Struct, frozen=True):
    """What a token stands for: which session, whose, and what it may do."""

    session_id: int
    account_id: AccountId
    scopes: tuple[str, ...] | None
    """None for a session made by signing in, which may do whatever its account may."""
    expires_at: datetime
    renewed_at: datetime
    last_seen_at: datetime
    proved_at: datetime | None
    is_replaced: bool


class Session(msgspec.Struct, frozen=True):
    """A session in its owner's list."""

    id: int
    name: str
    scopes: tuple[str, ...] | None
    created_at: datetime
    last_seen_at: datetime
    expires_at: datetime


class Passkey(msgspec.Struct, frozen=True):
    """A passkey in its owner's list."""

    id: int
    name: str
    created_at: datetime
    last_used_at: datetime | None


class Caller(msgspec.Struct, frozen=True):
    """Where a request came from, as far as limits and lists of sessions need to know."""

    network: str = ""
    """An IPv4 address or an IPv6 /64; empty for this machine itself, which is not limited."""
    device: str = ""
    """A name for its owner's list of sessions."""
    device_token: str = ""
    """Proof that somebody signed in here before."""
