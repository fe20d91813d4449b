"""An installation with live connections for `bench direct`: servers, web, worker, and people in pairs."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

from argon2 import PasswordHasher

from bench.http_load import Call, HttpConnection
from bench.mqtt_load import MqttConnection, OnMessage, open_mqtt
from bench.site_processes import engines, settings_for
from bench.social_sites import Site, running_site
from tintype.base.ids import AccountId
from tintype.base.settings import Settings
from tintype.schema import apply_schema
from tintype.stack import memory_of_tree
from tintype.wiring import Rooms, open_rooms

SHARDS = 16
SECRET_KEY = "of a bench"  # noqa: S105 - of no real installation
AT_ONCE = 16


@dataclass(frozen=True)
class Member:
    """Somebody in a thread of two."""

    account_id: AccountId
    token: str
    thread_id: int


@dataclass(frozen=True)
class DirectSite:
    """A running installation, and people who write to each other."""

    settings: Settings
    site: Site
    members: list[Member]
    """Two and two of them share a thread."""

    @property
    def mqtt_port(self) -> int:
        """Where NATS listens for MQTT."""
        return int(self.settings.mqtt_upstream.rpartition(":")[2])

    def memory_bytes(self) -> dict[str, int]:
        """PSS of every process with its children."""
        return {
            name: sum(memory_of_tree(each.pid).proportional_bytes for each in processes)
            for name, processes in self.site.parts.items()
        }

    async def connect(self, member: Member, http: HttpConnection, on_message: OnMessage) -> MqttConnection:
        """Connect a device as any client does: credentials over HTTP, then MQTT with the callout, then its topics."""
        found = json.loads(await http.send(Call("POST", "/api/v1/realtime/token", member.token)))
        connection = await open_mqtt(
            self.mqtt_port,
            found["client_id_prefix"] + "bench",
            found["username"],
            found["password"],
            on_message,
        )
        await connection.subscribe(f"/u/{member.account_id}/#")
        return connection

    async def connect_bare(self, name: str, on_message: OnMessage) -> MqttConnection:
        """Connect to the same broker past us: a user of its own, no callout, no rooms."""
        user = urlsplit(self.settings.nats[0])
        connection = await open_mqtt(
            self.mqtt_port, f"bare-{name}", user.username or "", user.password or "", on_message
        )
        await connection.subscribe(f"bare/{name}")
        return connection


@asynccontextmanager
async def direct_site(people: int) -> AsyncGenerator[DirectSite]:
    """Start an installation with this many people, in threads of two."""
    async with engines(servers=2, realtime=True, secret_key=SECRET_KEY) as (found, parts):
        settings = settings_for(
            found,
            shard_count=SHARDS,
            realtime=True,
            secret_key=SECRET_KEY,
            nats_system=found.nats_system,
            mqtt_upstream=found.mqtt_upstream,
        )
        await apply_schema(settings)
        async with open_rooms(settings, process="bench") as rooms:
            members = await _seed(rooms, people)
        async with running_site(settings, parts) as site:
            await site.wait_until_done()
            yield DirectSite(settings, site, members)


async def _seed(rooms: Rooms, people: int) -> list[Member]:
    rooms.accounts.use_hasher(PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))
    gate = asyncio.Semaphore(AT_ONCE)

    async def pair(number: int) -> list[Member]:
        async with gate:
            one, other = [
                await rooms.accounts.sign_up(f"{name}{number}", "a sentence for the bench")
                for name in ("one", "other")
            ]
            await rooms.graph.follow(other.account.id, one.account.id)  # no stranger
            thread_id = await rooms.direct.open_pair(one.account.id, other.account.id)
            return [Member(each.account.id, each.token, thread_id) for each in (one, other)]

    return [each for some in await asyncio.gather(*map(pair, range(people // 2))) for each in some]
