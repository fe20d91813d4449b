"""Signing in and out, and the sessions of an account, over HTTP."""

from typing import Annotated, Any

import msgspec
from litestar import Controller, Request, Response, delete, get, post, put
from litestar.openapi.datastructures import ResponseSpec
from litestar.params import JSONBody, QueryParameter

from tintype.accounts import IdentityProof, SecondFactorRequired, SignedIn
from tintype.api.http.authentication import Authenticator
from tintype.api.http.dependencies import (
    ClientInfo,
    CurrentSession,
    InjectedAuthenticator,
    InjectedRooms,
    PathId,
    ReauthenticatedSession,
    parse_id,
)
from tintype.api.http.device_accounts import DeviceAccounts
from tintype.api.views.sessions import (
    DeviceAccountsView,
    PasskeyOptionsView,
    RenewedTokenView,
    SecondFactorView,
    SessionsView,
    SignedInView,
    show_device_account,
    show_session,
    show_signed_in,
)
from tintype.base.ids import AccountId

Name = Annotated[str, msgspec.Meta(max_length=300)]
Password = Annotated[str, msgspec.Meta(max_length=1024)]
Code = Annotated[str, msgspec.Meta(max_length=40)]
KeepsTokens = Annotated[bool, QueryParameter(description="Whether API tokens go on working.")]
Ticket = Annotated[str, msgspec.Meta(max_length=100)]


class PasswordSignIn(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A username, email address or phone number, and the password that belongs to it."""

    username: Name
    password: Password


class SecondFactor(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The ticket, and a code from the authenticator app, a recovery code or a passkey assertion."""

    ticket: Ticket
    code: Code = ""
    passkey: dict[str, Any] | None = None


class SignInTicket(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The ticket of a sign-in that needs a second factor."""

    ticket: Ticket


class PasskeyAssertion(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A passkey assertion: the JSON of the credential that `navigator.credentials.get()` returned."""

    passkey: dict[str, Any]


class Proof(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A proof of identity: the password, a code of the authenticator app, or a passkey assertion."""

    password: Password = ""
    code: Code = ""
    passkey: dict[str, Any] | None = None


class SessionsApi(Controller):
    """Sessions."""

    path = "/api/v1/sessions"
    tags = ("Sessions",)

    @post(
        "/",
        summary="Log in",
        responses={202: ResponseSpec(SecondFactorView, description="A second factor is needed.")},
    )
    async def sign_in(
        self,
        data: JSONBody[PasswordSignIn],
        rooms: InjectedRooms,
        authenticator: InjectedAuthenticator,
        caller: ClientInfo,
    ) -> Response[SignedInView | SecondFactorView]:
        """Start a session."""
        try:
            made = await rooms.authentication.sign_in(data.username, data.password, caller=caller)
        except SecondFactorRequired as more:
            view = SecondFactorView("second_factor_required", more.ticket, list(more.methods))
            return Response(view, status_code=202)
        return _respond(made, authenticator)

    @post("/second-factor", summary="Log in: the second factor")
    async def second_factor(
        self,
        data: JSONBody[SecondFactor],
        rooms: InjectedRooms,
        authenticator: InjectedAuthenticator,
        caller: ClientInfo,
    ) -> Response[SignedInView | SecondFactorView]:
        """Finish a sign-in that started with a password."""
        made = await rooms.authentication.sign_in_with_second_factor(
            data.ticket, caller, code=data.code, passkey=data.passkey
        )
        return _respond(made, authenticator)

    @post("/second-factor/passkey-options", summary="Log in: passkey options for the second factor")
    async def second_factor_options(
        self, data: JSONBody[SignInTicket], rooms: InjectedRooms
    ) -> PasskeyOptionsView:
        """Options for `navigator.credentials.get()`, for the passkeys of the account that the ticket belongs to."""
        return PasskeyOptionsView(await rooms.authentication.second_factor_options(data.ticket))

    @post("/passkey-options", summary="Log in: passkey options")
    async def passkey_options(self, rooms: InjectedRooms, caller: ClientInfo) -> PasskeyOptionsView:
        """Options for `navigator.credentials.get()`, for any passkey of this site; no username is needed."""
        return PasskeyOptionsView(await rooms.authentication.passkey_sign_in_options(caller))

    @post("/passkey", summary="Log in with a passkey")
    async def by_passkey(
        self,
        data: JSONBody[PasskeyAssertion],
        rooms: InjectedRooms,
        authenticator: InjectedAuthenticator,
        caller: ClientInfo,
    ) -> Response[SignedInView | SecondFactorView]:
        """Start a session with a passkey alone."""
        return _respond(await rooms.authentication.sign_in_with_passkey(data.passkey, caller), authenticator)

    @get("/", summary="List sessions")
    async def list_sessions(self, current: CurrentSession, rooms: InjectedRooms) -> SessionsView:
        """Every session of this account."""
        found = await rooms.authentication.list_sessions(current.account_id)
        return SessionsView([show_session(each, current.session_id) for each in found])

    @delete("/", summary="Log out everywhere else")
    async def end_others(
        self, current: CurrentSession, rooms: InjectedRooms, keeps_tokens: KeepsTokens = False
    ) -> None:
        """End every session but this one, and every API token unless they are kept."""
        await rooms.authentication.end_other_sessions(current, keeps_tokens=keeps_tokens)

    @delete("/current", summary="Log out", open_to_suspended=True)
    async def sign_out(
        self,
        request: Request[Any, Any, Any],
        current: CurrentSession,
        rooms: InjectedRooms,
        authenticator: InjectedAuthenticator,
    ) -> None:
        """End this session."""
        await rooms.authentication.end_session(current.account_id, current.session_id)
        authenticator.clear_cookies(request)

    @get("/device", summary="Accounts on this device")
    async def device_accounts(
        self, request: Request[Any, Any, Any], rooms: InjectedRooms, authenticator: InjectedAuthenticator
    ) -> DeviceAccountsView:
        """The accounts that are signed in in this browser, the one in use first; for a guest, those set aside."""
        found = await DeviceAccounts(request, rooms, authenticator).list_all()
        return DeviceAccountsView([show_device_account(each, is_current=current) for each, current in found])

    @post("/device", summary="Set this account aside", status_code=204, open_to_suspended=True)
    async def set_aside(
        self, request: Request[Any, Any, Any], rooms: InjectedRooms, authenticator: InjectedAuthenticator
    ) -> None:
        """Keep this account signed in in this browser while another one signs in. Five fit."""
        await DeviceAccounts(request, rooms, authenticator).set_aside()

    @put("/device/{account_id:str}", summary="Switch accounts", status_code=204, open_to_suspended=True)
    async def switch(
        self,
        account_id: PathId,
        request: Request[Any, Any, Any],
        rooms: InjectedRooms,
        authenticator: InjectedAuthenticator,
    ) -> None:
        """Use another account that is signed in in this browser."""
        await DeviceAccounts(request, rooms, authenticator).switch(AccountId(parse_id(account_id)))

    @delete("/device/{account_id:str}", summary="Log out of another account of this device")
    async def remove_from_device(
        self,
        account_id: PathId,
        request: Request[Any, Any, Any],
        rooms: InjectedRooms,
        authenticator: InjectedAuthenticator,
    ) -> None:
        """End the session of an account that was set aside in this browser."""
        await DeviceAccounts(request, rooms, authenticator).remove(AccountId(parse_id(account_id)))

    @delete("/{session_id:str}", summary="End a session")
    async def end(self, session_id: PathId, current: CurrentSession, rooms: InjectedRooms) -> None:
        """End one session of this account at once."""
        await rooms.authentication.end_session(current.account_id, parse_id(session_id))

    @post("/current/token", summary="Renew the token")
    async def renew(
        self,
        request: Request[Any, Any, Any],
        current: CurrentSession,
        rooms: InjectedRooms,
        authenticator: InjectedAuthenticator,
    ) -> Response[RenewedTokenView]:
        """A new token for this session; the old one stays valid for an hour. Cookies are renewed automatically."""
        fresh = await rooms.authentication.exchange_token(authenticator.token(request))
        account = await rooms.accounts.get(current.account_id)
        return Response(RenewedTokenView(fresh), cookies=authenticator.cookies(SignedIn(account, fresh)))

    @get("/current/proof", summary="Is a proof needed", status_code=204, open_to_suspended=True)
    async def check_proof(self, proven: ReauthenticatedSession) -> None:
        """Refused where a sensitive change would be: with `proof_needed`, or `factor_needed` for a second factor."""

    @post("/current/proof", summary="Reauthenticate", status_code=204, open_to_suspended=True)
    async def prove(
        self,
        data: JSONBody[Proof],
        request: Request[Any, Any, Any],
        current: CurrentSession,
        rooms: InjectedRooms,
        authenticator: InjectedAuthenticator,
    ) -> None:
        """Prove one's identity again; for the next 15 minutes credentials may be changed.

        Where a second factor is set up, only a code, a recovery code or a passkey is a proof.
        """
        await rooms.credentials.reauthenticate(
            authenticator.token(request),
            current,
            IdentityProof(data.password, data.code, data.passkey),
        )

    @post("/current/proof/passkey-options", summary="Reauthenticate: passkey options", open_to_suspended=True)
    async def proof_options(self, current: CurrentSession, rooms: InjectedRooms) -> PasskeyOptionsView:
        """Options for `navigator.credentials.get()`, for the viewer's own passkeys."""
        return PasskeyOptionsView(await rooms.credentials.passkey_proof_options(current.account_id))


def _respond(made: SignedIn, authenticator: Authenticator) -> Response[SignedInView | SecondFactorView]:
    return Response(show_signed_in(made), cookies=authenticator.cookies(made))
