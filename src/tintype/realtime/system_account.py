"""NATS' system account: which connections there are, and how to cut them."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import msgspec
from nats.aio.client import Client
from nats.aio.msg import Msg

from tintype.base.ids import AccountId
from tintype.base.log import get_log
from tintype.base.nats import connect_nats
from tintype.base.settings import Settings
from tintype.realtime.connect_tokens import parse_client_id

log = get_log("realtime")
QUIET_S = 0.3
"""How long to wait for further servers of a cluster after the last one answered."""
FIRST_S = 2.0
PAGE = 1_024


class Connection(msgspec.Struct, frozen=True):
    """One device that is connected."""

    server_id: str
    cid: int
    account_id: AccountId
    session_id: int


class SystemAccount:
    """A connection to NATS as a user of its system account, made when it is first needed."""

    def __init__(self, settings: Settings, nats: Client) -> None:
        self._settings = msgspec.structs.replace(settings, nats=(settings.nats_system,))
        self._nats, self._own_account = nats, ""
        self._client: Client | None = None
        self._lock = asyncio.Lock()

    async def client(self) -> Client:
        """The connection."""
        async with self._lock:
            if self._client is None:
                self._client = await connect_nats(self._settings, name="realtime")
            return self._client

    async def own_account(self) -> str:
        """The name of this installation's NATS account; other installations on the same servers have theirs."""
        if not self._own_account:
            info = msgspec.json.decode((await self._nats.request("$SYS.REQ.USER.INFO", timeout=5)).data)
            self._own_account = str(info["data"]["account"])
        return self._own_account

    async def close(self) -> None:
        """Close the connection, if there is one."""
        if self._client is not None:
            await self._client.close()

    async def cut(self, account_id: AccountId, is_meant: Callable[[int], bool]) -> int:
        """Cut an account's connections, of the sessions that are meant; returns how many.

        Every server of the cluster is asked; each connection is cut as soon as it is known.
        """
        client, count = await self.client(), 0
        async for each in self.connections(str(account_id)):
            if each.account_id == account_id and is_meant(each.session_id):
                body = msgspec.json.encode({"cid": each.cid})
                await client.request(f"$SYS.REQ.SERVER.{each.server_id}.KICK", body, timeout=FIRST_S)
                count += 1
        if count:
            log.info("connections.cut", account_id=account_id, count=count)
        return count

    async def connections(self, user: str = "") -> AsyncIterator[Connection]:
        """Devices that are connected, to any server: all of them, or those of one account."""
        offset = 0
        while True:
            is_full = False
            options = {"auth": True, "acc": await self.own_account(), "limit": PAGE, "offset": offset}
            async for page in self._ask_all("CONNZ", options | ({"user": user} if user else {})):
                found: list[dict[str, Any]] = page["data"]["connections"] or []
                is_full = is_full or len(found) >= PAGE
                for each in found:
                    named = parse_client_id(str(each.get("mqtt_client", "")))
                    if named is not None:
                        yield Connection(str(page["server"]["id"]), int(each["cid"]), *named)
            if not is_full:
                return
            offset += PAGE

    async def _ask_all(self, what: str, options: dict[str, Any]) -> AsyncIterator[dict[str, Any]]:
        """The answers of all servers, as they arrive."""
        client = await self.client()
        answers: asyncio.Queue[Msg] = asyncio.Queue()
        inbox = client.new_inbox()
        subscription = await client.subscribe(inbox, cb=answers.put)
        try:
            await client.publish(f"$SYS.REQ.SERVER.PING.{what}", msgspec.json.encode(options), reply=inbox)
            patience_s = FIRST_S
            while True:
                try:
                    message = await asyncio.wait_for(answers.get(), patience_s)
                except TimeoutError:
                    return
                patience_s = QUIET_S
                yield msgspec.json.decode(message.data)
        finally:
            await subscription.unsubscribe()
