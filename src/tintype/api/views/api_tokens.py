"""API tokens, for programs."""

from datetime import datetime

import msgspec

from tintype.accounts import Session


class TokenView(msgspec.Struct, frozen=True):
    """A token as its owner sees it later: what it may do, without the token itself."""

    token_id: str
    name: str
    scopes: list[str]
    created_at: datetime
    last_seen_at: datetime
    expires_at: datetime


class NewTokenView(msgspec.Struct, frozen=True):
    """A new token. This is the only time that it is shown."""

    token: str
    about: TokenView


class TokensView(msgspec.Struct, frozen=True):
    """Every token of the account, and all scopes that a token can have."""

    tokens: list[TokenView]
    known_scopes: list[str]


def show_token(session: Session) -> TokenView:
    """What a token may do, and when it was used."""
    return TokenView(
        token_id=str(session.id),
        name=session.name,
        scopes=list(session.scopes or ()),
        created_at=session.created_at,
        last_seen_at=session.last_seen_at,
        expires_at=session.expires_at,
    )
