"""Tokens for programs, over HTTP."""

from datetime import datetime
from typing import Annotated

import msgspec
from litestar import Controller, delete, get, post
from litestar.params import JSONBody

from tintype.accounts import Session
from tintype.api import scopes as known_scopes
from tintype.api.given import Current, House, PathId, Proven, id_from


class NewToken(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a program shall be able to do, and for how long."""

    name: Annotated[str, msgspec.Meta(max_length=300, examples=["Backup at home"])]
    scopes: Annotated[list[str], msgspec.Meta(max_length=20, examples=[["read"]])]
    days: Annotated[int, msgspec.Meta(ge=1, le=366)] = 90


class TokenView(msgspec.Struct, frozen=True):
    """A token as its owner sees it later: what it may do, never what it is."""

    token_id: str
    name: str
    scopes: list[str]
    created_at: datetime
    last_seen_at: datetime
    expires_at: datetime


class MadeTokenView(msgspec.Struct, frozen=True):
    """A token, shown this once."""

    token: str
    about: TokenView


class TokensView(msgspec.Struct, frozen=True):
    """Every token of the account, and the scopes there are."""

    tokens: list[TokenView]
    known_scopes: list[str]


class TokensApi(Controller):
    """Tokens. No token made here reaches these routes: they name no scope."""

    path = "/api/v1/tokens"
    tags = ("Tokens",)

    @post("/", summary="Make a token for a program")
    async def make(self, data: JSONBody[NewToken], proven: Proven, rooms: House) -> MadeTokenView:
        """A token that may do what its scopes name. It needs a proof of the last minutes."""
        made, token = await rooms.accounts.programs.make(
            proven.account_id, data.name, scopes=data.scopes, known=known_scopes.ALL, days=data.days
        )
        return MadeTokenView(token, _show(made))

    @get("/", summary="The tokens of this account")
    async def list_tokens(self, current: Current, rooms: House) -> TokensView:
        """What was handed out to programs."""
        found = await rooms.accounts.programs.list(current.account_id)
        return TokensView([_show(each) for each in found], sorted(known_scopes.ALL))

    @delete("/{token_id:str}", summary="End a token")
    async def end(self, token_id: PathId, current: Current, rooms: House) -> None:
        """It opens nothing any more, effective at once."""
        await rooms.accounts.programs.end(current.account_id, id_from(token_id))


def _show(each: Session) -> TokenView:
    return TokenView(
        token_id=str(each.id),
        name=each.name,
        scopes=list(each.scopes or ()),
        created_at=each.created_at,
        last_seen_at=each.last_seen_at,
        expires_at=each.expires_at,
    )
