"""Events of the accounts room."""

from tintype.base.events import Event
from tintype.base.ids import AccountId


class AccountCreated(Event, frozen=True):
    """An account was created."""

    account_id: AccountId


class InvitationAccepted(Event, frozen=True):
    """Somebody joined by another account's link."""

    account_id: AccountId
    inviter_id: AccountId
    invitation_id: int


class AccountChanged(Event, frozen=True):
    """What others see of an account changed (name, avatar, bio, verification): cached copies are stale."""

    account_id: AccountId


class PrivacyChanged(Event, frozen=True):
    """An account became private or public."""

    account_id: AccountId
    is_private: bool


class StatusChanged(Event, frozen=True):
    """The status of an account changed to active, deactivated, suspended or leaving.

    Also sent with `suspended` when the owner of a suspended account signs in and thereby cancels its deletion.
    """

    account_id: AccountId
    status: str


class SessionsEnded(Event, frozen=True):
    """Sessions of an account were ended (sign-out, password reset, suspension, deletion, revocation).

    `session_ids` is empty when all of them were. Live connections of ended sessions must be closed.
    """

    account_id: AccountId
    session_ids: tuple[str, ...] = ()
    token_hashes: tuple[str, ...] = ()
    """The cache keys of the ended sessions."""


class MailWanted(Event, frozen=True):
    """A mail is to be sent. The event holds no secret: the sender derives it from the nonce."""

    account_id: AccountId
    kind: str
    nonce: str


class ResetAsked(Event, frozen=True):
    """A password reset was requested for a name; whether an account has that name is checked by the worker."""

    identifier: str
    nonce: str
