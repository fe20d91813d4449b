"""Dependency injection: how each parameter that `dependencies` names is made for a request."""

from typing import Any, cast

from litestar import Request
from litestar.di import Provide

from tintype.accounts import Account, AuthenticatedSession, Caller
from tintype.api.http.authentication import Authenticator
from tintype.api.http.dependencies import InjectedAuthenticator, InjectedRooms
from tintype.wiring import Rooms


def provide_rooms(request: Request[Any, Any, Any]) -> Rooms:
    """The rooms that were opened when the server started."""
    return request.app.state.rooms


def provide_authenticator(request: Request[Any, Any, Any], rooms: InjectedRooms) -> Authenticator:  # noqa: ARG001 - see below
    """The authenticator of this process.

    It depends on the rooms only to make the dependencies of a route one chain: those that are independent the framework
    resolves in tasks, which costs every request 50 µs.
    """
    return request.app.state.authenticator


async def provide_viewer(request: Request[Any, Any, Any], authenticator: InjectedAuthenticator) -> Account:
    """The account that is signed in; refused when none is."""
    return await authenticator.viewer(request)


async def provide_guest(
    request: Request[Any, Any, Any], authenticator: InjectedAuthenticator
) -> Account | None:
    """The account that is signed in; None for a guest, where the settings let guests read."""
    guests_may_read = cast("Rooms", request.app.state.rooms).settings.guests_may_read
    if not authenticator.token(request) and guests_may_read:
        return None
    return await authenticator.viewer(request)


async def provide_current(
    request: Request[Any, Any, Any], authenticator: InjectedAuthenticator
) -> AuthenticatedSession:
    """The session of the request; refused when there is none."""
    return (await authenticator.authenticate(request))[0]


async def provide_proven(
    request: Request[Any, Any, Any], authenticator: InjectedAuthenticator
) -> AuthenticatedSession:
    """The session of the request; refused unless its holder proved their identity within the last minutes."""
    return await authenticator.require_recent_proof(request)


async def provide_confirmed(
    request: Request[Any, Any, Any], authenticator: InjectedAuthenticator
) -> AuthenticatedSession:
    """The session of the request; where a second factor is set up, refused without a recent proof of it."""
    return await authenticator.require_factor(request)


def provide_caller(request: Request[Any, Any, Any], authenticator: InjectedAuthenticator) -> Caller:
    """The network and device that the request came from."""
    return authenticator.caller(request)


PROVIDERS = {
    "rooms": Provide(provide_rooms, sync_to_thread=False),
    "authenticator": Provide(provide_authenticator, sync_to_thread=False),
    "viewer": Provide(provide_viewer),
    "guest": Provide(provide_guest),
    "current": Provide(provide_current),
    "confirmed": Provide(provide_confirmed),
    "proven": Provide(provide_proven),
    "caller": Provide(provide_caller, sync_to_thread=False),
}
