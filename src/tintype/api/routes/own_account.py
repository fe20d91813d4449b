"""The viewer's own account over HTTP: profile, username, avatar, contact details, deactivation."""

from typing import Annotated, Any

import msgspec
from litestar import Controller, Request, delete, get, patch, post, put
from litestar.params import JSONBody, QueryParameter

from tintype.accounts import PrivateDetails, ProfileUpdate
from tintype.api.http import scopes
from tintype.api.http.dependencies import (
    ClientInfo,
    CurrentSession,
    InjectedAuthenticator,
    InjectedRooms,
    ReauthenticatedSession,
    Viewer,
    parse_media_id,
)
from tintype.api.views.accounts import AvailabilityView, OwnAccountView, show_own_account
from tintype.base.ids import IdText

Words = Annotated[str, msgspec.Meta(max_length=2_000)]
Name = Annotated[str, msgspec.Meta(max_length=300)]


class ProfileChange(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What to change; what is left out stays."""

    full_name: Words | None = None
    bio: Words | None = None
    website: Words | None = None
    is_private: bool | None = None
    is_unlisted: bool | None = None
    allows_downloads: bool | None = None
    shows_camera: bool | None = None
    allows_story_shares: bool | None = None


class NewUsername(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A username."""

    username: Name


class NewAvatar(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An uploaded picture that is not posted."""

    media_id: IdText


class NewEmail(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An email address."""

    email: Name


class NewPhone(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A phone number with its country code."""

    phone: Annotated[str, msgspec.Meta(max_length=40, examples=["+49 30 901820"])]


class EmailToken(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The token from the email."""

    token: Annotated[str, msgspec.Meta(max_length=200)]


class OwnAccountApi(Controller):
    """The viewer's own account."""

    path = "/api/v1"
    tags = ("Profile",)

    @get("/accounts/me", summary="Who am I", scope=scopes.READ, open_to_suspended=True)
    async def me(self, viewer: Viewer, rooms: InjectedRooms) -> OwnAccountView:
        """The account of this session."""
        return show_own_account(await rooms.accounts.get(viewer.id))

    @patch("/accounts/me", summary="Change the profile", scope=scopes.ACCOUNT_WRITE)
    async def change(
        self, data: JSONBody[ProfileChange], viewer: Viewer, rooms: InjectedRooms
    ) -> OwnAccountView:
        """Change the profile; what is left out stays."""
        changed = await rooms.accounts.change_profile(
            viewer.id,
            ProfileUpdate(
                data.full_name,
                data.bio,
                data.website,
                data.is_private,
                data.is_unlisted,
                data.allows_downloads,
                data.shows_camera,
                data.allows_story_shares,
            ),
        )
        return show_own_account(changed)

    @get("/accounts/me/private", summary="Private details")
    async def private(self, current: CurrentSession, rooms: InjectedRooms) -> PrivateDetails:
        """Email, phone, and how the account is protected."""
        return await rooms.accounts.get_private_details(current.account_id)

    @get("/usernames/available", summary="Is a username free")
    async def available(
        self,
        rooms: InjectedRooms,
        caller: ClientInfo,
        username: Annotated[str, QueryParameter(max_length=100)],
    ) -> AvailabilityView:
        """Whether a username is free; refused with the reason if it is not allowed."""
        is_available = await rooms.accounts.is_username_available(username, caller)
        return AvailabilityView(username, is_available)

    @put("/accounts/me/username", summary="Change the username", status_code=200)
    async def rename(
        self, data: JSONBody[NewUsername], current: CurrentSession, rooms: InjectedRooms
    ) -> OwnAccountView:
        """Change the username. The old one stays reserved for 14 days."""
        return show_own_account(await rooms.accounts.rename(current.account_id, data.username))

    @put("/accounts/me/avatar", summary="Set the avatar", scope=scopes.ACCOUNT_WRITE, status_code=200)
    async def set_avatar(
        self, data: JSONBody[NewAvatar], viewer: Viewer, rooms: InjectedRooms
    ) -> OwnAccountView:
        """Use an uploaded picture as the avatar."""
        await rooms.media.set_avatar(viewer.id, parse_media_id(data.media_id))
        return show_own_account(await rooms.accounts.get(viewer.id))

    @delete("/accounts/me/avatar", summary="Remove the avatar", scope=scopes.ACCOUNT_WRITE)
    async def remove_avatar(self, viewer: Viewer, rooms: InjectedRooms) -> None:
        """Remove the avatar and its files."""
        await rooms.media.remove_avatar(viewer.id)

    @put("/accounts/me/email", summary="Change the email address", status_code=202)
    async def request_email(
        self,
        data: JSONBody[NewEmail],
        proven: ReauthenticatedSession,
        rooms: InjectedRooms,
        caller: ClientInfo,
    ) -> None:
        """Send a confirmation link to the new address, which is used once it is confirmed."""
        await rooms.accounts.request_email(proven.account_id, data.email, caller)

    @delete("/accounts/me/email", summary="Remove the email address")
    async def remove_email(self, proven: ReauthenticatedSession, rooms: InjectedRooms) -> None:
        """Remove the address. Without one, a lost password cannot be reset."""
        await rooms.accounts.remove_email(proven.account_id)

    @post("/email-confirmations", summary="Confirm an email address", status_code=204)
    async def confirm_email(self, data: JSONBody[EmailToken], rooms: InjectedRooms) -> None:
        """Confirm an address with the token from the email."""
        await rooms.accounts.confirm_email(data.token)

    @put("/accounts/me/phone", summary="Change the phone number", status_code=204)
    async def set_phone(
        self, data: JSONBody[NewPhone], proven: ReauthenticatedSession, rooms: InjectedRooms
    ) -> None:
        """Set the phone number; no two accounts can have the same."""
        await rooms.accounts.set_phone(proven.account_id, data.phone)

    @delete("/accounts/me/phone", summary="Remove the phone number")
    async def remove_phone(self, proven: ReauthenticatedSession, rooms: InjectedRooms) -> None:
        """Remove the phone number."""
        await rooms.accounts.set_phone(proven.account_id, None)

    @post("/accounts/me/deactivation", summary="Deactivate", status_code=204)
    async def deactivate(
        self,
        request: Request[Any, Any, Any],
        proven: ReauthenticatedSession,
        rooms: InjectedRooms,
        authenticator: InjectedAuthenticator,
    ) -> None:
        """Hide the account until its owner signs in again."""
        await rooms.accounts.deactivate(proven.account_id)
        authenticator.clear_cookies(request)
