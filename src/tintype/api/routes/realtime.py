"""Live connections over HTTP: what a device needs to connect."""

from typing import Any

from litestar import Controller, Request, post

from tintype.accounts import hash_token
from tintype.api.http import scopes
from tintype.api.http.dependencies import CurrentSession, InjectedAuthenticator, InjectedRooms, Viewer
from tintype.api.views.realtime import ConnectTokenView
from tintype.realtime import ConnectToken


class RealtimeApi(Controller):
    """Live connections of the viewer."""

    path = "/api/v1/realtime"
    tags = ("Real time",)

    @post("/token", summary="Credentials for a live connection", status_code=201, scope=scopes.REALTIME)
    async def token(
        self,
        request: Request[Any, Any, Any],
        viewer: Viewer,
        current: CurrentSession,
        rooms: InjectedRooms,
        authenticator: InjectedAuthenticator,
    ) -> ConnectTokenView:
        """Credentials for MQTT 3.1.1 over WebSocket at `/mqtt`, valid for a minute and for this session.

        Choose a client id that begins with `client_id_prefix`. The connection is cut when the session ends.
        """
        made: ConnectToken = rooms.realtime.issue_token(current, hash_token(authenticator.token(request)))
        return ConnectTokenView(
            username=made.username,
            password=made.password,
            client_id_prefix=made.client_id_prefix,
            topic=f"/u/{viewer.id}",
            expires_in_s=made.expires_in_s,
        )
