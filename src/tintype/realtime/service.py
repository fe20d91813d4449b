"""The facade of the realtime room."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from nats.aio.client import Client
from nats.errors import Error as NatsError
from redis.asyncio import Redis

from shardwright.routing import Shards
from tintype.accounts import Accounts, AuthenticatedSession, Authentication
from tintype.base.jobs import Handler, Schedule
from tintype.base.log import get_log
from tintype.base.nats import NatsNames
from tintype.base.nats_keys import IssuerKey
from tintype.base.personal_data import PersonalDataHolder
from tintype.base.secret_key import secret_key
from tintype.base.settings import Settings
from tintype.comments import Comments
from tintype.graph import Visibility
from tintype.posts import Posts
from tintype.realtime.activity import CONFIRM_EVERY_S, ActivityLog
from tintype.realtime.auth_callout import LONGEST_S, AuthCallout
from tintype.realtime.commands import Command, CommandRegistry
from tintype.realtime.connect_tokens import ConnectToken, ConnectTokens
from tintype.realtime.dispatcher import Dispatcher
from tintype.realtime.errors import RealtimeOff
from tintype.realtime.feed_hints import FeedHints
from tintype.realtime.live_notifications import LiveNotifications
from tintype.realtime.mqtt_streams import bound_streams
from tintype.realtime.personal_data import RealtimePersonalData
from tintype.realtime.post_signals import PostSignals
from tintype.realtime.post_watchers import PostWatchers
from tintype.realtime.presence import Presence
from tintype.realtime.presence_events import PresenceEvents
from tintype.realtime.probe import Probe
from tintype.realtime.session_end import SessionEnd
from tintype.realtime.system_account import SystemAccount
from tintype.realtime.typing_signals import ListMembers, TypingSignals
from tintype.redis.rate_limits import RateLimiter
from tintype.sync import Sync

log = get_log("realtime")


@dataclass(frozen=True)
class RealtimeDependencies:
    """The rooms and engines that realtime is built on."""

    settings: Settings
    shards: Shards
    redis: Redis
    nats: Client
    accounts: Accounts
    authentication: Authentication
    visibility: Visibility
    posts: Posts
    comments: Comments
    sync: Sync
    limiter: RateLimiter


class Realtime:
    """Live connections: who may have one, what their commands do, and when they are cut."""

    def __init__(self, deps: RealtimeDependencies, *, longest_s: int = LONGEST_S) -> None:
        settings, names = deps.settings, NatsNames(deps.settings.namespace)
        self._settings = settings
        self._system = SystemAccount(settings, deps.nats)
        self.started = asyncio.Event()
        """Set while this process admits devices and carries out commands."""
        self._session_end = SessionEnd(self._system)
        self.commands = CommandRegistry()
        """Where rooms register what commands do, in `wiring.py`."""
        self.commands.register("ping", _pong)
        activity = ActivityLog(deps.redis, settings.namespace)
        self.presence = Presence(deps.shards, deps.visibility, activity)
        self._presence_events = PresenceEvents(
            deps.nats,
            self._system,
            deps.redis,
            settings.namespace,
            activity=activity,
            presence=self.presence,
        )
        self.commands.register("presence.watch", self._presence_events.watch)
        watchers = PostWatchers(deps.redis, settings.namespace)
        self.post_signals = PostSignals(deps.nats, watchers, deps.posts, deps.comments)
        self.commands.register("watch", self.post_signals.watch)
        self.notifications, self.feed_hints = LiveNotifications(deps.sync), FeedHints(deps.nats)
        self.personal_data: PersonalDataHolder = RealtimePersonalData(deps.shards, activity)
        self._nats = deps.nats
        key = secret_key(settings) if settings.has_realtime else b""
        self._tokens, self._probe = ConnectTokens(key), Probe(key)
        self._callout = AuthCallout(
            deps.nats, IssuerKey(key), self._tokens, deps.authentication, self._probe, longest_s=longest_s
        )
        self._dispatcher = Dispatcher(deps.nats, names, self.commands, deps.accounts, deps.limiter)

    @property
    def is_on(self) -> bool:
        """Whether this site has live connections."""
        return self._settings.has_realtime

    def issue_token(self, session: AuthenticatedSession, token_hash: bytes) -> ConnectToken:
        """Credentials for one connection of this session, valid for a minute."""
        if not self.is_on:
            raise RealtimeOff
        return self._tokens.issue(session, token_hash)

    def register_typing(self, list_members: ListMembers) -> None:
        """Have the command `typing` sent on to the members of a thread, whom this function lists."""
        self.commands.register("typing", TypingSignals(self._nats, list_members).send)

    def handlers(self) -> list[Handler]:
        """The handlers that cut connections."""
        return self._session_end.handlers() if self.is_on else []

    def schedules(self) -> list[Schedule]:
        """Confirm who is connected every minute, and bound what the broker keeps every hour."""
        if not self.is_on:
            return []
        return [
            Schedule("presence-confirm", CONFIRM_EVERY_S, self._presence_events.confirm),
            Schedule("mqtt-streams", 3_600.0, self._bound_streams),
        ]

    def services(self) -> list[Callable[[], Awaitable[None]]]:
        """What a worker runs for as long as it runs."""
        return [self.run] if self.is_on else []

    async def run(self) -> None:
        """Admit devices and carry out their commands until cancelled; raises where NATS does not ask us."""
        self._callout.write_scopes = self.commands.scopes
        subscriptions = [
            await self._callout.start(await self._system.own_account()),
            await self._presence_events.start(),
        ]
        try:
            await self._probe.run(self._settings)
            subscriptions.append(await self._dispatcher.start())
            self.started.set()
            log.info("gateway.started", commands=self.commands.kinds)
            await self._dispatcher.run()
        finally:
            self.started.clear()
            for each in subscriptions:
                with contextlib.suppress(NatsError):  # NATS is away, and the subscription with it
                    await each.unsubscribe()

    async def _bound_streams(self) -> None:
        await bound_streams(self._nats.jetstream())

    async def close(self) -> None:
        """Finish what is being told, and close the connection to the system account, if one was made."""
        await self.notifications.drain()
        await self.post_signals.drain()
        await self._system.close()


async def _pong(_: Command) -> dict[str, Any]:
    return {}
