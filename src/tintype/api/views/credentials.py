"""What an account signs in with: authenticator apps and passkeys."""

from datetime import datetime

import msgspec

from tintype.accounts import Passkey


class TotpView(msgspec.Struct, frozen=True):
    """What an authenticator app needs: scan the QR code, open the link or type the secret."""

    secret: str
    link: str
    qr_svg: str


class RecoveryCodesView(msgspec.Struct, frozen=True):
    """Ten codes for when the phone is lost. Each works once; they are not shown again."""

    recovery_codes: list[str]


class PasskeyView(msgspec.Struct, frozen=True):
    """A passkey as its owner sees it."""

    passkey_id: str
    name: str
    created_at: datetime
    last_used_at: datetime | None


class PasskeysView(msgspec.Struct, frozen=True):
    """Every passkey of the account."""

    passkeys: list[PasskeyView]


def show_passkey(passkey: Passkey) -> PasskeyView:
    """A passkey as its owner sees it."""
    return PasskeyView(str(passkey.id), passkey.name, passkey.created_at, passkey.last_used_at)
