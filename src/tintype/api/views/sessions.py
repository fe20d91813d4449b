"""Signing in, and the sessions of an account."""

from datetime import datetime
from typing import Any, Literal

import msgspec

from tintype.accounts import Account, Session, SignedIn
from tintype.api.views.accounts import OwnAccountView, show_own_account
from tintype.api.views.people import avatar_url


class SignedInView(msgspec.Struct, frozen=True):
    """The account, and the token for programs; browsers have it as a cookie."""

    account: OwnAccountView
    token: str


class SecondFactorView(msgspec.Struct, frozen=True):
    """The password is right; send the ticket back with a second factor within five minutes."""

    status: Literal["second_factor_required"]
    ticket: str
    methods: list[str]


class PasskeyOptionsView(msgspec.Struct, frozen=True):
    """The options for `navigator.credentials`, as JSON."""

    public_key: dict[str, Any]


class SessionView(msgspec.Struct, frozen=True):
    """A session: one device that is signed in."""

    session_id: str
    device: str
    created_at: datetime
    last_seen_at: datetime
    expires_at: datetime
    is_current: bool


class SessionsView(msgspec.Struct, frozen=True):
    """Every session of the account, the last used first."""

    sessions: list[SessionView]


class DeviceAccountView(msgspec.Struct, frozen=True):
    """An account that is signed in in this browser."""

    account_id: str
    username: str
    full_name: str
    profile_pic_url: str | None
    is_current: bool


class DeviceAccountsView(msgspec.Struct, frozen=True):
    """The accounts that are signed in in this browser, the one in use first."""

    accounts: list[DeviceAccountView]


class RenewedTokenView(msgspec.Struct, frozen=True):
    """The new token of a session."""

    token: str


def show_device_account(account: Account, *, is_current: bool) -> DeviceAccountView:
    """An account of this browser."""
    return DeviceAccountView(
        str(account.id), account.username, account.full_name, avatar_url(account), is_current
    )


def show_signed_in(made: SignedIn) -> SignedInView:
    """The account that signed in, and its token."""
    return SignedInView(show_own_account(made.account), made.token)


def show_session(session: Session, current_id: int) -> SessionView:
    """A session of the account; the one with `current_id` made this request."""
    return SessionView(
        session_id=str(session.id),
        device=session.name,
        created_at=session.created_at,
        last_seen_at=session.last_seen_at,
        expires_at=session.expires_at,
        is_current=session.id == current_id,
    )
