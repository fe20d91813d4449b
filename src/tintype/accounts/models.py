"""The types of this room: accounts, sessions, passkeys and callers."""

from datetime import datetime
from typing import Any, Literal

import msgspec

from tintype.base.ids import AccountId

OwnStatus = Literal["active", "deactivated", "leaving"]
"""What the owner of an account chooses."""
Status = Literal[OwnStatus, "suspended", "gone"]
"""`leaving` (deletion requested) ends by signing in; `gone` is final: the data is being erased."""
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
    """The three counts are those of the moment when the account was cached: `AccountCounts` has the current ones."""
    follower_count: int
    following_count: int
    is_unlisted: bool = False
    """Whether its owner keeps it out of link previews, embeds and search engines, public as it may be."""
    allows_downloads: bool = False
    """Whether those who may see its photos may download them as they were uploaded."""
    shows_camera: bool = False
    """Whether new posts show camera, lens and exposure, where they do not say."""
    allows_story_shares: bool = True
    """Whether others may show its posts in their stories."""

    @property
    def is_active(self) -> bool:
        """Whether the account is in use: not deactivated, suspended or being deleted."""
        return self.status == "active"

    @property
    def may_sign_in(self) -> bool:
        """Whether sessions of the account work; of a suspended one, only for appeals and exports."""
        return self.status in {"active", "suspended"}

    @property
    def is_suspended(self) -> bool:
        """Whether moderators or operators have suspended the account."""
        return self.status == "suspended"

    @property
    def is_moderator(self) -> bool:
        """Whether it may moderate what others post."""
        return self.role in {"moderator", "operator"}


class AccountCounts(msgspec.Struct, frozen=True):
    """The counts of an account, cached apart from it because every follow and every post changes them."""

    post_count: int
    follower_count: int
    following_count: int

    def added_to(self, account: Account) -> Account:
        """The account with these counts."""
        return msgspec.structs.replace(
            account,
            post_count=self.post_count,
            follower_count=self.follower_count,
            following_count=self.following_count,
        )


class LockedAccount(msgspec.Struct, frozen=True):
    """What an account's row said when a transaction locked it; it cannot change until the transaction ends."""

    is_private: bool
    status: Status
    status_after_suspension: OwnStatus | None
    following_count: int

    @property
    def is_leaving(self) -> bool:
        """Whether its owner has asked for its deletion and not signed in since, suspended or not."""
        return "leaving" in {self.status, self.status_after_suspension}


class ProfileUpdate(msgspec.Struct, frozen=True):
    """New values of a profile's fields; a field that is None stays as it is."""

    full_name: str | None = None
    bio: str | None = None
    website: str | None = None
    is_private: bool | None = None
    is_unlisted: bool | None = None
    allows_downloads: bool | None = None
    shows_camera: bool | None = None
    allows_story_shares: bool | None = None


class PrivateDetails(msgspec.Struct, frozen=True):
    """Details of an account that only its owner sees."""

    email: str | None
    pending_email: str | None
    phone: str | None
    role: Role
    password_changed_at: datetime | None
    has_totp: bool
    recovery_code_count: int
    passkey_count: int


class Invitation(msgspec.Struct, frozen=True):
    """A link by which others can join, in the list of the account that made it."""

    id: int
    secret: str
    max_uses: int
    use_count: int
    expires_at: datetime


class SignedIn(msgspec.Struct, frozen=True):
    """A new session: its token is shown once and stored only as a hash."""

    account: Account
    token: str


class AuthenticatedSession(msgspec.Struct, frozen=True):
    """The session a token belongs to: whose it is, what it may do, and until when."""

    session_id: int
    account_id: AccountId
    scopes: tuple[str, ...] | None
    """What an API token may do; None for a session started by signing in, which may do all its account may."""
    expires_at: datetime
    renewed_at: datetime
    last_seen_at: datetime
    proved_at: datetime | None
    is_replaced: bool


class Session(msgspec.Struct, frozen=True):
    """A session or API token in its owner's list."""

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


class IdentityProof(msgspec.Struct, frozen=True):
    """What somebody sends to prove again who they are: the password, a code, or a passkey assertion."""

    password: str = ""
    code: str = ""
    passkey: dict[str, Any] | None = None

    @property
    def is_factor(self) -> bool:
        """Whether it is a second factor, and not the password."""
        return self.passkey is not None or bool(self.code)


class Caller(msgspec.Struct, frozen=True):
    """Where a request came from, for rate limits and the list of sessions."""

    network: str = ""
    """An IPv4 address or an IPv6 /64; empty for this machine itself, which has no rate limit."""
    device: str = ""
    """How the device is named in its owner's list of sessions."""
    device_token: str = ""
    """The device cookie of an earlier sign-in (`known_devices.py`)."""


LOCAL_CALLER = Caller()
"""This machine itself, such as the command line."""
