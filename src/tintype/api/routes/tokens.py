"""API tokens, for programs, over HTTP."""

from typing import Annotated

import msgspec
from litestar import Controller, delete, get, post
from litestar.params import JSONBody

from tintype.api.http import scopes as known_scopes
from tintype.api.http.dependencies import (
    CurrentSession,
    InjectedRooms,
    PathId,
    ReauthenticatedSession,
    parse_id,
)
from tintype.api.views.api_tokens import NewTokenView, TokensView, show_token


class NewToken(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The name, scopes and lifetime of a new token."""

    name: Annotated[str, msgspec.Meta(max_length=300, examples=["Backup at home"])]
    scopes: Annotated[list[str], msgspec.Meta(max_length=20, examples=[["read"]])]
    days: Annotated[int, msgspec.Meta(ge=1, le=366)] = 90


class TokensApi(Controller):
    """API tokens. These routes have no scope, so that no API token can call them."""

    path = "/api/v1/tokens"
    tags = ("Tokens",)

    @post("/", summary="Create an API token")
    async def create(
        self, data: JSONBody[NewToken], proven: ReauthenticatedSession, rooms: InjectedRooms
    ) -> NewTokenView:
        """A token that may do what its scopes allow. Needs a recent reauthentication."""
        made, token = await rooms.authentication.create_api_token(
            proven.account_id, data.name, scopes=data.scopes, known=known_scopes.ALL, days=data.days
        )
        return NewTokenView(token, show_token(made))

    @get("/", summary="List API tokens")
    async def list_tokens(self, current: CurrentSession, rooms: InjectedRooms) -> TokensView:
        """Every API token of the account."""
        found = await rooms.authentication.list_api_tokens(current.account_id)
        return TokensView([show_token(each) for each in found], sorted(known_scopes.ALL))

    @delete("/{token_id:str}", summary="Revoke an API token")
    async def revoke(self, token_id: PathId, current: CurrentSession, rooms: InjectedRooms) -> None:
        """The token stops working at once."""
        await rooms.authentication.revoke_api_token(current.account_id, parse_id(token_id))
