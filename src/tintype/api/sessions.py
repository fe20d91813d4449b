"""Signing in and out, and the list of where one is signed in, over HTTP."""

from datetime import datetime
from typing import Annotated, Any, Literal

import msgspec
from litestar import Controller, Request, Response, delete, get, post
from litestar.openapi.datastructures import ResponseSpec
from litestar.params import JSONBody

from tintype.accounts import SecondFactorRequired, Session, SignedIn
from tintype.api.given import CallerInfo, Current, House, PathId, SessionReader, id_from
from tintype.api.views import AccountView, show_account

Name = Annotated[str, msgspec.Meta(max_length=300)]
Password = Annotated[str, msgspec.Meta(max_length=1024)]
Code = Annotated[str, msgspec.Meta(max_length=40)]
Ticket = Annotated[str, msgspec.Meta(max_length=100)]


class Credentials(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A username, email address or phone number, and the password that belongs to it."""

    username: Name
    password: Password


class SignedInView(msgspec.Struct, frozen=True):
    """The account, and the token for programs; browsers have it as a cookie."""

    account: AccountView
    token: str


class SecondFactorView(msgspec.Struct, frozen=True):
    """The password is right; send the ticket back with one more proof within five minutes."""

    status: Literal["second_factor_required"]
    ticket: str
    methods: list[str]


class SecondFactor(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The ticket, and a code of the app, a recovery code, or a passkey's answer."""

    ticket: Ticket
    code: Code = ""
    passkey: dict[str, Any] | None = None


class TicketOnly(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The ticket of a sign-in under way."""

    ticket: Ticket


class PasskeyAnswer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What navigator.credentials.get() returned, as JSON."""

    passkey: dict[str, Any]


class PasskeyQuestion(msgspec.Struct, frozen=True):
    """What navigator.credentials needs, as JSON."""

    public_key: dict[str, Any]


class Proof(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One of them: the password, a code, or a passkey's answer."""

    password: Password = ""
    code: Code = ""
    passkey: dict[str, Any] | None = None


class SessionView(msgspec.Struct, frozen=True):
    """One place where the account is signed in."""

    session_id: str
    device: str
    created_at: datetime
    last_seen_at: datetime
    expires_at: datetime
    is_current: bool


class SessionsView(msgspec.Struct, frozen=True):
    """Everywhere the account is signed in, the latest used first."""

    sessions: list[SessionView]


class TokenView(msgspec.Struct, frozen=True):
    """A fresh token in place of an old one."""

    token: str


class SessionsApi(Controller):
    """Sessions."""

    path = "/api/v1/sessions"
    tags = ("Sessions",)

    @post(
        "/",
        summary="Log in",
        responses={202: ResponseSpec(SecondFactorView, description="One more proof is needed")},
    )
    async def sign_in(
        self, data: JSONBody[Credentials], rooms: House, sessions: SessionReader, caller: CallerInfo
    ) -> Response[SignedInView | SecondFactorView]:
        """Start a session."""
        try:
            made = await rooms.accounts.sign_in(data.username, data.password, caller=caller)
        except SecondFactorRequired as more:
            view = SecondFactorView("second_factor_required", more.ticket, list(more.methods))
            return Response(view, status_code=202)
        return _entered(made, sessions)

    @post("/second-factor", summary="Log in: the second factor")
    async def second_factor(
        self, data: JSONBody[SecondFactor], rooms: House, sessions: SessionReader, caller: CallerInfo
    ) -> Response[SignedInView | SecondFactorView]:
        """Finish a sign-in that began with a password."""
        made = await rooms.accounts.signing_in.by_second_factor(
            data.ticket, caller, code=data.code, passkey=data.passkey
        )
        return _entered(made, sessions)

    @post("/second-factor/passkey-options", summary="Log in: ask a passkey as the second factor")
    async def second_factor_options(self, data: JSONBody[TicketOnly], rooms: House) -> PasskeyQuestion:
        """What to ask the passkeys of the account behind a ticket."""
        return PasskeyQuestion(await rooms.accounts.signing_in.ticket_options(data.ticket))

    @post("/passkey-options", summary="Log in: ask a passkey")
    async def passkey_options(self, rooms: House, caller: CallerInfo) -> PasskeyQuestion:
        """What to ask any passkey of this site; no name is needed."""
        return PasskeyQuestion(await rooms.accounts.signing_in.passkey_options(caller))

    @post("/passkey", summary="Log in with a passkey")
    async def by_passkey(
        self, data: JSONBody[PasskeyAnswer], rooms: House, sessions: SessionReader, caller: CallerInfo
    ) -> Response[SignedInView | SecondFactorView]:
        """Start a session with a passkey alone."""
        return _entered(await rooms.accounts.signing_in.by_passkey(data.passkey, caller), sessions)

    @get("/", summary="Where am I signed in")
    async def list_sessions(self, current: Current, rooms: House) -> SessionsView:
        """Every session of this account."""
        found = await rooms.accounts.sessions.list(current.account_id)
        return SessionsView([_show(each, current.session_id) for each in found])

    @delete("/", summary="Log out everywhere else")
    async def end_others(self, current: Current, rooms: House) -> None:
        """End every session but this one."""
        await rooms.accounts.sessions.end_others(current)

    @delete("/current", summary="Log out")
    async def sign_out(
        self, request: Request[Any, Any, Any], current: Current, rooms: House, sessions: SessionReader
    ) -> None:
        """End this session."""
        await rooms.accounts.sessions.end(current.account_id, current.session_id)
        sessions.drop_cookies(request)

    @delete("/{session_id:str}", summary="Log out somewhere")
    async def end(self, session_id: PathId, current: Current, rooms: House) -> None:
        """End one session of this account, effective at once."""
        await rooms.accounts.sessions.end(current.account_id, id_from(session_id))

    @post("/current/token", summary="Exchange the token")
    async def renew(
        self, request: Request[Any, Any, Any], current: Current, rooms: House, sessions: SessionReader
    ) -> Response[TokenView]:
        """A fresh token for this session; the old one lasts an hour more. Cookies are exchanged by themselves."""
        fresh = await rooms.accounts.sessions.exchange(sessions.token(request))
        account = await rooms.accounts.get(current.account_id)
        return Response(TokenView(fresh), cookies=sessions.cookies(SignedIn(account, fresh)))

    @post("/current/proof", summary="Prove once more who you are", status_code=204)
    async def prove(
        self,
        data: JSONBody[Proof],
        request: Request[Any, Any, Any],
        current: Current,
        rooms: House,
        sessions: SessionReader,
    ) -> None:
        """Open the quarter of an hour in which credentials may be changed."""
        await rooms.accounts.credentials.prove(
            sessions.token(request), current, password=data.password, code=data.code, passkey=data.passkey
        )

    @post("/current/proof/passkey-options", summary="Prove who you are: ask a passkey")
    async def proof_options(self, current: Current, rooms: House) -> PasskeyQuestion:
        """What to ask one's own passkeys."""
        return PasskeyQuestion(await rooms.accounts.passkeys.ask_proof(current.account_id))


def _entered(made: SignedIn, sessions: SessionReader) -> Response[SignedInView | SecondFactorView]:
    return Response(SignedInView(show_account(made.account), made.token), cookies=sessions.cookies(made))


def _show(each: Session, current_id: int) -> SessionView:
    return SessionView(
        session_id=str(each.id),
        device=each.name,
        created_at=each.created_at,
        last_seen_at=each.last_seen_at,
        expires_at=each.expires_at,
        is_current=each.id == current_id,
    )
