"""What tests look at behind the API: the objects in a store."""

from pathlib import Path

import asyncpg

from tests.support import Person, on_server
from tintype.base.ids import AccountId, MediaId
from tintype.base.settings import server_dsns
from tintype.media.models import Tier
from tintype.media.storage import Storage
from tintype.media.stores import open_stores
from tintype.wiring import Rooms


def storage_of(house: Rooms) -> Storage:
    return Storage(open_stores(house.settings))


async def paths_in(house: Rooms, tier: Tier = "hot") -> list[str]:
    """Every object of a house, by path."""
    return sorted([stored.path async for stored in storage_of(house).walk("", tier=tier)])


def stray_files(house: Rooms) -> list[Path]:
    """What lies in the workshop."""
    place = Path(house.settings.media_work)
    return [path for path in place.rglob("*") if path.is_file()] if place.exists() else []


async def on_its_shard(house: Rooms, media_id: str | int, statement: str) -> list[asyncpg.Record]:
    """Run a statement on the shard that an id lives on; `{id}` in it is that id."""
    shard = house.shards.owner(int(media_id))
    dsn = server_dsns(house.settings)[shard.server]
    return await on_server(
        dsn, f"SET search_path TO {shard.schema}, public", statement.format(id=int(media_id))
    )


def account_of(person: Person) -> AccountId:
    return AccountId(int(person.account_id))


def media_id_in(text: str) -> MediaId:
    return MediaId(int(text))
