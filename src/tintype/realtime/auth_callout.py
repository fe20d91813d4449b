"""The auth callout: answers NATS, which asks for each new connection who it is and what it may do.

Any number of processes answer, one of them each time. A connection may subscribe below `/u/{its account}` and publish
commands, and is cut after an hour or so at the latest: should news of an ended session ever be lost, its connections do
not outlive that.
"""

import random
import time
from typing import Any

import msgspec
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription

from tintype.accounts import AuthenticatedSession, Authentication
from tintype.base.background_tasks import BackgroundTasks
from tintype.base.errors import TintypeError
from tintype.base.log import get_log
from tintype.base.nats import NatsNames
from tintype.base.nats_keys import IssuerKey, read_claims
from tintype.realtime.connect_tokens import ConnectTokens, TokenClaims
from tintype.realtime.errors import ConnectRefused
from tintype.realtime.probe import PROBE_USER, Probe

log = get_log("realtime")
SUBJECT = "$SYS.REQ.USER.AUTH"
LONGEST_S = 3_600
MAX_SUBSCRIPTIONS = 20
MAX_PAYLOAD_BYTES = 32 * 1024
CONNECT_SCOPE = "realtime"
"""What an API token needs to connect at all."""


class _Server(msgspec.Struct, frozen=True):
    id: str


class _Client(msgspec.Struct, frozen=True):
    type: str = ""
    mqtt_id: str = ""


class _Options(msgspec.Struct, frozen=True):
    user: str = ""
    password: str = msgspec.field(default="", name="pass")


class _Request(msgspec.Struct, frozen=True):
    server_id: _Server
    user_nkey: str
    client_info: _Client
    connect_opts: _Options


class _Claims(msgspec.Struct, frozen=True):
    nats: _Request


class AuthCallout:
    """Admits devices to the gateway."""

    def __init__(
        self,
        nats: Client,
        issuer: IssuerKey,
        tokens: ConnectTokens,
        authentication: Authentication,
        probe: Probe,
        *,
        longest_s: int = LONGEST_S,
    ) -> None:
        self._nats, self._issuer, self._tokens = nats, issuer, tokens
        self._authentication, self._probe = authentication, probe
        self._longest_s = longest_s
        self._tasks = BackgroundTasks()
        self._account = ""
        self.write_scopes: set[str] = set()
        """What an API token needs, all of it, to publish commands."""

    async def start(self, account: str) -> Subscription:
        """Answer from now on, and put who is admitted into this NATS account."""
        self._account = account

        async def on_request(message: Msg) -> None:
            self._tasks.start(lambda: self._answer(message))

        subscription = await self._nats.subscribe(SUBJECT, queue="tintype", cb=on_request)
        await self._nats.flush()
        return subscription

    async def _answer(self, message: Msg) -> None:
        request = read_claims(message.data, _Claims).nats
        try:
            answer = {"jwt": await self._admit(request)}
        except TintypeError as error:
            log.info("connection.refused", client_id=request.client_info.mqtt_id[:80], **error.facts)
            answer = {"error": error.code}
        except Exception:
            log.exception("connection.unanswered", client_id=request.client_info.mqtt_id[:80])
            answer = {"error": "unavailable"}
        body = {"type": "authorization_response", "version": 2, **answer}
        response = self._issuer.sign({"sub": request.user_nkey, "aud": request.server_id.id, "nats": body})
        await message.respond(response.encode())

    async def _admit(self, request: _Request) -> str:
        """The user that a connection becomes, signed; refused where its credentials are not valid any more."""
        options, client = request.connect_opts, request.client_info
        if options.user == PROBE_USER:
            self._probe.check(options.password)
            return self._sign(request, PROBE_USER, {"pub": _none(), "sub": _none()}, life_s=5)
        if client.type != "mqtt":  # the same credentials must not open NATS' own protocol, which can do more
            raise ConnectRefused(reason="protocol")
        claims = self._tokens.check(options.user, options.password, client.mqtt_id)
        session = await self.find_session(claims)
        left_s = int(session.expires_at.timestamp() - time.time())
        # Not all after the same time: those that connected together would come back together.
        life_s = int(self._longest_s * random.uniform(0.8, 1.0))  # noqa: S311 - a schedule
        return self._sign(
            request, options.user, self._permissions(session), life_s=max(1, min(life_s, left_s))
        )

    async def find_session(self, claims: TokenClaims) -> AuthenticatedSession:
        """The session that a token names, which must not have ended, of an active account."""
        found = await self._authentication.authenticate_hash(claims.token_hash, claims.account_id)
        if found is None or found[0].session_id != claims.session_id or not found[1].is_active:
            raise ConnectRefused(reason="session")
        scopes = found[0].scopes
        if scopes is not None and CONNECT_SCOPE not in scopes:
            raise ConnectRefused(reason="scope")
        return found[0]

    def _permissions(self, session: AuthenticatedSession) -> dict[str, Any]:
        may_write = session.scopes is None or (self.write_scopes and self.write_scopes <= set(session.scopes))
        # `/u/1/#` includes `/u/1`. Subscriptions at QoS 1 are refused by $MQTT: each would be a JetStream consumer.
        # Commands are for the server: a device that subscribes to everything does not get its own, or another's.
        root, commands = (
            NatsNames.user_root(session.account_id),
            NatsNames.user(session.account_id, "commands"),
        )
        return {
            "sub": {"allow": [f"{root}.>", root], "deny": ["$MQTT.>", commands]},
            "pub": {"allow": [commands]} if may_write else _none(),
        }

    def _sign(self, request: _Request, name: str, permissions: dict[str, Any], *, life_s: int) -> str:
        user = {
            **permissions,
            "subs": MAX_SUBSCRIPTIONS,
            "data": -1,
            "payload": MAX_PAYLOAD_BYTES,
            "type": "user",
            "version": 2,
        }
        expires_at = int(time.time()) + life_s
        return self._issuer.sign(
            {"sub": request.user_nkey, "aud": self._account, "name": name, "exp": expires_at, "nats": user}
        )


def _none() -> dict[str, list[str]]:
    return {"deny": [">"]}
