"""Presence from the broker's own news: it tells its system account who connects and who leaves.

Those who look at somebody are told at once: a device asks with the command `presence.watch`, for some minutes and for
some people, and hears of their changes on `/u/{account}/presence`.
"""

import time
from typing import Annotated, Any

import msgspec
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from nats.errors import Error as NatsError
from redis.asyncio import Redis

from tintype.base.background_tasks import BackgroundTasks
from tintype.base.ids import AccountId, IdText
from tintype.base.nats import NatsNames
from tintype.realtime.activity import Activity, ActivityLog
from tintype.realtime.commands import Command
from tintype.realtime.connect_tokens import parse_client_id
from tintype.realtime.presence import Presence
from tintype.realtime.system_account import SystemAccount

WATCH_S = 300
MAX_WATCHED = 50
MAX_WATCHERS = 1_000


class WatchPayload(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Whom to watch, for some minutes; sent again to go on."""

    account_ids: Annotated[list[IdText], msgspec.Meta(min_length=1, max_length=MAX_WATCHED)]


class PresenceSignal(msgspec.Struct, frozen=True):
    """Somebody became active, or is not active any more."""

    account_id: str
    is_active: bool
    last_active_at: str | None


class PresenceEvents:
    """Keeps the activity of everybody up to date, and tells those who watch."""

    def __init__(
        self,
        nats: Client,
        system: SystemAccount,
        redis: Redis,
        namespace: str,
        *,
        activity: ActivityLog,
        presence: Presence,
    ) -> None:
        self._nats, self._system, self._redis = nats, system, redis
        self._prefix = f"{namespace}:watchers:"
        self._activity, self._presence = activity, presence
        self._tasks = BackgroundTasks()

    async def start(self) -> Subscription:
        """Listen from now on; one of all workers gets each event."""

        async def on_event(message: Msg) -> None:
            self._tasks.start(lambda: self._handle(message))

        client, account = await self._system.client(), await self._system.own_account()
        subject = f"$SYS.ACCOUNT.{account}.*"
        return await client.subscribe(subject, queue=f"{account}-presence", cb=on_event)

    async def _handle(self, message: Msg) -> None:
        what = message.subject.rpartition(".")[2]
        if what not in {"CONNECT", "DISCONNECT"}:
            return
        event = msgspec.json.decode(message.data)
        named = parse_client_id(str(event["client"].get("client_id", "")))
        if named is None or event["client"].get("user") != str(named[0]):
            return  # not a device that was admitted
        device = f"{event['server']['id']}:{event['client']['id']}"
        if what == "CONNECT":
            is_changed = await self._activity.connected(named[0], device)
        else:
            is_changed = await self._activity.disconnected(named[0], device)
        if is_changed:
            await self._tell(named[0])

    async def confirm(self) -> None:
        """Confirm everybody who is connected, as all servers list them."""
        devices = [
            (each.account_id, f"{each.server_id}:{each.cid}") async for each in self._system.connections()
        ]
        await self._activity.confirm(devices)

    async def watch(self, command: Command) -> dict[str, Any]:
        """Carry out the command `presence.watch`: what is known now, and changes from now on."""
        payload = msgspec.convert(command.payload, WatchPayload)
        ids = [AccountId(int(each)) for each in payload.account_ids]
        found = await self._presence.find_many(command.account_id, ids)
        expires_at = time.time() + WATCH_S
        async with self._redis.pipeline(transaction=False) as pipe:
            for each in found:
                key = f"{self._prefix}{each}"
                pipe.zadd(key, {str(command.account_id): expires_at})
                pipe.zremrangebyrank(key, 0, -MAX_WATCHERS - 1)
                pipe.expire(key, WATCH_S)
            await pipe.execute()
        return {"presence": [msgspec.to_builtins(_signal(each, one)) for each, one in found.items()]}

    async def _tell(self, account_id: AccountId) -> None:
        watchers: Any = await self._redis.zrangebyscore(f"{self._prefix}{account_id}", time.time(), "+inf")
        for watcher in [AccountId(int(each)) for each in watchers]:
            seen = (await self._presence.find_many(watcher, [account_id])).get(account_id)
            if seen is not None:
                body = msgspec.json.encode(_signal(account_id, seen))
                try:
                    await self._nats.publish(NatsNames.user(watcher, "presence"), body)
                except NatsError:
                    return  # who watches asks again


def _signal(account_id: AccountId, seen: Activity) -> PresenceSignal:
    last = seen.last_active_at.isoformat() if seen.last_active_at else None
    return PresenceSignal(str(account_id), seen.is_active, last)
