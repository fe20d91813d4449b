"""Passwords, authenticator apps and passkeys over HTTP. No API token can call these routes."""

from typing import Annotated, Any

import msgspec
from litestar import Controller, delete, get, patch, post, put
from litestar.params import JSONBody

from tintype.api.http.dependencies import (
    ClientInfo,
    ConfirmedSession,
    CurrentSession,
    InjectedRooms,
    PathId,
    ReauthenticatedSession,
    parse_id,
)
from tintype.api.routes.sessions import Code, PasskeyOptionsView, Password
from tintype.api.views.credentials import PasskeysView, PasskeyView, RecoveryCodesView, TotpView, show_passkey

Secret = Annotated[str, msgspec.Meta(max_length=200)]
Name = Annotated[str, msgspec.Meta(max_length=300)]
KeepsTokens = Annotated[bool, msgspec.Meta(description="Whether API tokens go on working.")]


class NewPassword(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The current password and the new one."""

    current_password: Password
    new_password: Password
    keeps_tokens: KeepsTokens = False


class PasswordResetRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A username, email address or phone number."""

    username: Name


class PasswordReset(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The token from the email, and the new password."""

    token: Secret
    new_password: Password


class TotpCode(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The code that the authenticator app shows."""

    code: Code


class NewPasskey(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What navigator.credentials.create() returned, as JSON, and a name for it."""

    passkey: dict[str, Any]
    name: Name = ""


class PasskeyName(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A name for a passkey."""

    name: Name


class SecurityApi(Controller):
    """Passwords, authenticator apps, recovery codes and passkeys."""

    path = "/api/v1"
    tags = ("Security",)

    @put("/accounts/me/password", summary="Change the password", status_code=204)
    async def change_password(
        self, data: JSONBody[NewPassword], confirmed: ConfirmedSession, rooms: InjectedRooms
    ) -> None:
        """Change the password. Every other session ends, and API tokens unless they are kept."""
        await rooms.credentials.change_password(
            confirmed, data.current_password, data.new_password, keeps_tokens=data.keeps_tokens
        )

    @post("/password-resets", summary="Request a password reset", status_code=202)
    async def request_reset(
        self, data: JSONBody[PasswordResetRequest], rooms: InjectedRooms, caller: ClientInfo
    ) -> None:
        """Send a link to the account's confirmed address. The answer is the same whether there is such an account."""
        await rooms.credentials.request_password_reset(data.username, caller)

    @post("/password-resets/use", summary="Reset the password", status_code=204)
    async def reset(self, data: JSONBody[PasswordReset], rooms: InjectedRooms) -> None:
        """Set a new password with the token from the email. Every session ends."""
        await rooms.credentials.reset_password(data.token, data.new_password)

    @post("/security/totp", summary="Set up an authenticator app")
    async def begin_totp(self, proven: ReauthenticatedSession, rooms: InjectedRooms) -> TotpView:
        """Create a secret; it is used once it is confirmed with a code."""
        account = await rooms.accounts.get(proven.account_id)
        secret, link, picture = await rooms.credentials.begin_totp_setup(account.id, account.username)
        return TotpView(secret, link, picture)

    @post("/security/totp/confirm", summary="Turn the authenticator app on")
    async def confirm_totp(
        self, data: JSONBody[TotpCode], proven: ReauthenticatedSession, rooms: InjectedRooms
    ) -> RecoveryCodesView:
        """From now on signing in needs a code after the password."""
        return RecoveryCodesView(await rooms.credentials.confirm_totp(proven.account_id, data.code))

    @delete("/security/totp", summary="Turn the authenticator app off")
    async def disable_totp(self, proven: ReauthenticatedSession, rooms: InjectedRooms) -> None:
        """Signing in needs no code any more."""
        await rooms.credentials.disable_totp(proven.account_id)

    @post("/security/recovery-codes", summary="New recovery codes")
    async def renew_codes(self, proven: ReauthenticatedSession, rooms: InjectedRooms) -> RecoveryCodesView:
        """Replace the recovery codes; the old ones stop working."""
        return RecoveryCodesView(await rooms.credentials.renew_recovery_codes(proven.account_id))

    @post("/security/passkeys/options", summary="Passkey creation options")
    async def passkey_options(
        self, proven: ReauthenticatedSession, rooms: InjectedRooms
    ) -> PasskeyOptionsView:
        """Options for `navigator.credentials.create()`."""
        account = await rooms.accounts.get(proven.account_id)
        return PasskeyOptionsView(await rooms.credentials.passkey_creation_options(account))

    @post("/security/passkeys", summary="Add a passkey")
    async def add_passkey(
        self, data: JSONBody[NewPasskey], proven: ReauthenticatedSession, rooms: InjectedRooms
    ) -> PasskeyView:
        """Register a passkey, to sign in with it."""
        return show_passkey(
            await rooms.credentials.add_passkey(proven.account_id, data.passkey, name=data.name)
        )

    @get("/security/passkeys", summary="List passkeys")
    async def list_passkeys(self, current: CurrentSession, rooms: InjectedRooms) -> PasskeysView:
        """The passkeys of the account, the oldest first."""
        found = await rooms.credentials.list_passkeys(current.account_id)
        return PasskeysView([show_passkey(each) for each in found])

    @patch("/security/passkeys/{passkey_id:str}", summary="Rename a passkey", status_code=204)
    async def rename_passkey(
        self, passkey_id: PathId, data: JSONBody[PasskeyName], current: CurrentSession, rooms: InjectedRooms
    ) -> None:
        """Change the name under which a passkey is listed."""
        await rooms.credentials.rename_passkey(current.account_id, parse_id(passkey_id), data.name)

    @delete("/security/passkeys/{passkey_id:str}", summary="Remove a passkey")
    async def remove_passkey(
        self, passkey_id: PathId, proven: ReauthenticatedSession, rooms: InjectedRooms
    ) -> None:
        """Remove a passkey; signing in with it stops working."""
        await rooms.credentials.remove_passkey(proven.account_id, parse_id(passkey_id))
