"""What the accounts room announces."""

from tintype.base.events import Event
from tintype.base.ids import AccountId


class AccountCreated(Event, frozen=True):
    """Somebody joined."""

    account_id: AccountId


class AccountChanged(Event, frozen=True):
    """What others see of an account changed: name, picture, words about it, verification. Read it anew."""

    account_id: AccountId


class PrivacyChanged(Event, frozen=True):
    """An account became private or public."""

    account_id: AccountId
    is_private: bool


class StatusChanged(Event, frozen=True):
    """An account came into use, or went out of it: active, deactivated, suspended, leaving."""

    account_id: AccountId
    status: str


class SessionsEnded(Event, frozen=True):
    """Sessions of an account were ended from above (password reset, suspension, deletion, revocation).

    `session_ids` is empty when all of them were. Whoever holds live connections for them cuts these.
    """

    account_id: AccountId
    session_ids: tuple[str, ...] = ()
    token_hashes: tuple[str, ...] = ()
    """Under which names the cache knows them."""


class MailWanted(Event, frozen=True):
    """A mail waits to be sent. It holds no secret: who sends it makes that anew."""

    account_id: AccountId
    kind: str
    nonce: str


class ResetAsked(Event, frozen=True):
    """Somebody says they forgot their password. Whether anybody goes by that name is found out later, unseen."""

    identifier: str
    nonce: str
