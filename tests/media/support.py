"""Reaches behind the API: objects in a store, rows on a shard, and the room's background jobs."""

from pathlib import Path

import asyncpg

from tests.support import Person, on_server
from tintype.base.events import Event
from tintype.base.ids import AccountId, MediaId
from tintype.base.settings import server_dsns
from tintype.media.models import Tier
from tintype.media.storage.connect import open_stores
from tintype.media.storage.object_storage import ObjectStorage
from tintype.wiring import Rooms


def storage_of(installation: Rooms) -> ObjectStorage:
    return ObjectStorage(open_stores(installation.settings))


async def paths_in(installation: Rooms, tier: Tier = "hot") -> list[str]:
    """Every object of a installation, by path."""
    return sorted([stored.path async for stored in storage_of(installation).list_objects("", tier=tier)])


def stray_files(installation: Rooms) -> list[Path]:
    """Files in the folder for temporary files, but for those of processes that wait for a job of the sandbox."""
    place = Path(installation.settings.media_work)
    found = place.rglob("*") if place.exists() else ()
    jobs = f"{place}/tintype-jobs-"
    return [path for path in found if path.is_file() and not str(path).startswith(jobs)]


async def on_its_shard(installation: Rooms, media_id: str | int, statement: str) -> list[asyncpg.Record]:
    """Run a statement on the shard that an id lives on; `{id}` in it is that id."""
    shard = installation.shards.owner(int(media_id))
    dsn = server_dsns(installation.settings)[shard.server]
    return await on_server(
        dsn, f"SET search_path TO {shard.schema}, public", statement.format(id=int(media_id))
    )


def account_of(person: Person) -> AccountId:
    return AccountId(int(person.account_id))


def media_id_in(text: str) -> MediaId:
    return MediaId(int(text))


async def handle(installation: Rooms, event: Event) -> None:
    """Run the media room's handlers of an event, as the worker would."""
    for handler in installation.media.handlers():
        if isinstance(event, handler.event):
            await handler.run(event)


async def purge(installation: Rooms) -> None:
    """Run the hourly purge."""
    for schedule in installation.media.schedules():
        if schedule.name == "media-purge":
            await schedule.run()
