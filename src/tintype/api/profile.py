"""One's own account over HTTP: what it says, what it is called, and how its owner is reached."""

from typing import Annotated, Any

import msgspec
from litestar import Controller, Request, delete, get, patch, post, put
from litestar.params import JSONBody, QueryParameter

from tintype.accounts import PrivateDetails
from tintype.api import scopes
from tintype.api.given import CallerInfo, Current, House, Proven, SessionReader, Viewer, id_from
from tintype.api.views import AccountView, show_account
from tintype.base.ids import IdText, MediaId

Words = Annotated[str, msgspec.Meta(max_length=2_000)]
Name = Annotated[str, msgspec.Meta(max_length=300)]


class ProfileChange(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is not sent stays as it is."""

    full_name: Words | None = None
    bio: Words | None = None
    website: Words | None = None
    is_private: bool | None = None


class NewUsername(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A username."""

    username: Name


class NewAvatar(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An uploaded picture of one's own that is not posted yet."""

    media_id: IdText


class NewEmail(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An email address."""

    email: Name


class NewPhone(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A phone number with the code of its country."""

    phone: Annotated[str, msgspec.Meta(max_length=40, examples=["+49 30 901820"])]


class EmailToken(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The secret from the mail."""

    token: Annotated[str, msgspec.Meta(max_length=200)]


class AvailabilityView(msgspec.Struct, frozen=True):
    """Whether a username could be had now."""

    username: str
    is_available: bool


class ProfileApi(Controller):
    """One's own account."""

    path = "/api/v1"
    tags = ("Profile",)

    @get("/accounts/me", summary="Who am I", scope=scopes.READ)
    async def me(self, viewer: Viewer) -> AccountView:
        """The account of this session."""
        return show_account(viewer)

    @patch("/accounts/me", summary="Change the profile", scope=scopes.ACCOUNT_WRITE)
    async def change(self, data: JSONBody[ProfileChange], viewer: Viewer, rooms: House) -> AccountView:
        """Change what is sent."""
        changed = await rooms.accounts.profiles.change(
            viewer.id,
            full_name=data.full_name,
            bio=data.bio,
            website=data.website,
            is_private=data.is_private,
        )
        return show_account(changed)

    @get("/accounts/me/private", summary="What only I see")
    async def private(self, current: Current, rooms: House) -> PrivateDetails:
        """Email, phone, and how the account is protected."""
        return await rooms.accounts.profiles.get_private(current.account_id)

    @get("/usernames/available", summary="Is a username free")
    async def available(
        self,
        rooms: House,
        caller: CallerInfo,
        username: Annotated[str, QueryParameter(max_length=100)],
    ) -> AvailabilityView:
        """Refused with the reason where nobody can have it."""
        is_available = await rooms.accounts.profiles.is_available(username, caller)
        return AvailabilityView(username, is_available)

    @put("/accounts/me/username", summary="Change the username", status_code=200)
    async def rename(self, data: JSONBody[NewUsername], current: Current, rooms: House) -> AccountView:
        """The old name stays yours for 14 days, then it is anybody's."""
        return show_account(await rooms.accounts.profiles.rename(current.account_id, data.username))

    @put("/accounts/me/avatar", summary="Show a picture", scope=scopes.ACCOUNT_WRITE, status_code=200)
    async def set_avatar(self, data: JSONBody[NewAvatar], viewer: Viewer, rooms: House) -> AccountView:
        """Take an uploaded picture as one's own."""
        folder = await rooms.media.keep_as_avatar(viewer.id, MediaId(id_from(data.media_id)))
        before = await rooms.accounts.set_avatar(viewer.id, folder)
        if before is not None and before != folder:
            await rooms.media.let_go(viewer.id, before)
        return show_account(await rooms.accounts.get(viewer.id))

    @delete("/accounts/me/avatar", summary="Show no picture", scope=scopes.ACCOUNT_WRITE)
    async def drop_avatar(self, viewer: Viewer, rooms: House) -> None:
        """Back to none."""
        before = await rooms.accounts.set_avatar(viewer.id, None)
        if before is not None:
            await rooms.media.let_go(viewer.id, before)

    @put("/accounts/me/email", summary="Change the email address", status_code=202)
    async def ask_email(
        self, data: JSONBody[NewEmail], proven: Proven, rooms: House, caller: CallerInfo
    ) -> None:
        """A link goes to the new address; it counts once the link was followed."""
        await rooms.accounts.reaching.ask(proven.account_id, data.email, caller)

    @delete("/accounts/me/email", summary="Remove the email address")
    async def drop_email(self, proven: Proven, rooms: House) -> None:
        """The account is not reached by mail any more, and a lost password cannot be reset."""
        await rooms.accounts.reaching.drop(proven.account_id)

    @post("/email-confirmations", summary="Confirm an email address", status_code=204)
    async def confirm_email(self, data: JSONBody[EmailToken], rooms: House) -> None:
        """Use the secret from the mail."""
        await rooms.accounts.reaching.confirm(data.token)

    @put("/accounts/me/phone", summary="Change the phone number", status_code=204)
    async def set_phone(self, data: JSONBody[NewPhone], proven: Proven, rooms: House) -> None:
        """A number that no other account has."""
        await rooms.accounts.reaching.set_phone(proven.account_id, data.phone)

    @delete("/accounts/me/phone", summary="Remove the phone number")
    async def drop_phone(self, proven: Proven, rooms: House) -> None:
        """No number any more."""
        await rooms.accounts.reaching.set_phone(proven.account_id, None)

    @post("/accounts/me/deactivation", summary="Deactivate", status_code=204)
    async def deactivate(
        self, request: Request[Any, Any, Any], proven: Proven, rooms: House, sessions: SessionReader
    ) -> None:
        """Nobody sees the account until its owner signs in again."""
        await rooms.accounts.set_status(proven.account_id, "deactivated")
        sessions.drop_cookies(request)
