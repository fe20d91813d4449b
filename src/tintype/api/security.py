"""Passwords, authenticator apps and passkeys over HTTP. Nothing here is open to tokens of programs."""

from datetime import datetime
from typing import Annotated, Any

import msgspec
from litestar import Controller, delete, get, patch, post, put
from litestar.params import JSONBody

from tintype.accounts import Passkey
from tintype.api.given import CallerInfo, Current, House, PathId, Proven, id_from
from tintype.api.sessions import Code, PasskeyQuestion, Password

Secret = Annotated[str, msgspec.Meta(max_length=200)]
Name = Annotated[str, msgspec.Meta(max_length=300)]


class NewPassword(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The password so far, and the one from now on."""

    current_password: Password
    new_password: Password


class ResetRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A username, email address or phone number."""

    username: Name


class Reset(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The secret from the mail, and the new password."""

    token: Secret
    new_password: Password


class CodeOnly(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A code the app shows now."""

    code: Code


class TotpView(msgspec.Struct, frozen=True):
    """What an authenticator app needs: scan the picture, follow the link or type the secret."""

    secret: str
    link: str
    qr_svg: str


class RecoveryCodesView(msgspec.Struct, frozen=True):
    """Ten codes for the day the phone is gone, each good once; they are not shown again."""

    recovery_codes: list[str]


class NewPasskey(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What navigator.credentials.create() returned, as JSON, and a name for it."""

    passkey: dict[str, Any]
    name: Name = ""


class PasskeyName(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A name for a passkey."""

    name: Name


class PasskeyView(msgspec.Struct, frozen=True):
    """A passkey as its owner sees it."""

    passkey_id: str
    name: str
    created_at: datetime
    last_used_at: datetime | None


class PasskeysView(msgspec.Struct, frozen=True):
    """Every passkey of the account."""

    passkeys: list[PasskeyView]


class SecurityApi(Controller):
    """What one signs in with."""

    path = "/api/v1"
    tags = ("Security",)

    @put("/accounts/me/password", summary="Change the password", status_code=204)
    async def change_password(self, data: JSONBody[NewPassword], current: Current, rooms: House) -> None:
        """Every other session ends."""
        await rooms.accounts.credentials.change_password(current, data.current_password, data.new_password)

    @post("/password-resets", summary="Ask for a new password", status_code=202)
    async def ask_reset(self, data: JSONBody[ResetRequest], rooms: House, caller: CallerInfo) -> None:
        """A link goes to the account's confirmed address, if there is such an account; the answer does not tell."""
        await rooms.accounts.credentials.ask_reset(data.username, caller)

    @post("/password-resets/use", summary="Choose a new password", status_code=204)
    async def reset(self, data: JSONBody[Reset], rooms: House) -> None:
        """Use the secret from the mail. Every session ends."""
        await rooms.accounts.credentials.reset_password(data.token, data.new_password)

    @post("/security/totp", summary="Set up an authenticator app")
    async def begin_totp(self, proven: Proven, rooms: House) -> TotpView:
        """A new secret; it counts once a code was sent back."""
        account = await rooms.accounts.get(proven.account_id)
        secret, link, picture = await rooms.accounts.totp.begin(account.id, account.username)
        return TotpView(secret, link, picture)

    @post("/security/totp/confirm", summary="Turn the authenticator app on")
    async def confirm_totp(self, data: JSONBody[CodeOnly], proven: Proven, rooms: House) -> RecoveryCodesView:
        """From now on a code is asked for after the password."""
        await rooms.accounts.credentials.count_proof(proven.account_id)
        return RecoveryCodesView(await rooms.accounts.totp.confirm(proven.account_id, data.code))

    @delete("/security/totp", summary="Turn the authenticator app off")
    async def drop_totp(self, proven: Proven, rooms: House) -> None:
        """The password alone is enough again."""
        await rooms.accounts.totp.drop(proven.account_id)

    @post("/security/recovery-codes", summary="New recovery codes")
    async def renew_codes(self, proven: Proven, rooms: House) -> RecoveryCodesView:
        """The old ones are worth nothing any more."""
        return RecoveryCodesView(await rooms.accounts.totp.renew_codes(proven.account_id))

    @post("/security/passkeys/options", summary="Make a passkey")
    async def passkey_options(self, proven: Proven, rooms: House) -> PasskeyQuestion:
        """What a browser needs to make a new passkey."""
        account = await rooms.accounts.get(proven.account_id)
        return PasskeyQuestion(await rooms.accounts.passkeys.ask_new(account))

    @post("/security/passkeys", summary="Keep a passkey")
    async def add_passkey(self, data: JSONBody[NewPasskey], proven: Proven, rooms: House) -> PasskeyView:
        """From now on one can sign in with it."""
        return _show(await rooms.accounts.passkeys.add(proven.account_id, data.passkey, name=data.name))

    @get("/security/passkeys", summary="The passkeys of this account")
    async def list_passkeys(self, current: Current, rooms: House) -> PasskeysView:
        """The oldest first."""
        found = await rooms.accounts.passkeys.list(current.account_id)
        return PasskeysView([_show(each) for each in found])

    @patch("/security/passkeys/{passkey_id:str}", summary="Name a passkey", status_code=204)
    async def rename_passkey(
        self, passkey_id: PathId, data: JSONBody[PasskeyName], current: Current, rooms: House
    ) -> None:
        """For its owner's eyes."""
        await rooms.accounts.passkeys.rename(current.account_id, id_from(passkey_id), data.name)

    @delete("/security/passkeys/{passkey_id:str}", summary="Remove a passkey")
    async def drop_passkey(self, passkey_id: PathId, proven: Proven, rooms: House) -> None:
        """It opens nothing any more."""
        await rooms.accounts.passkeys.drop(proven.account_id, id_from(passkey_id))


def _show(each: Passkey) -> PasskeyView:
    return PasskeyView(str(each.id), each.name, each.created_at, each.last_used_at)
