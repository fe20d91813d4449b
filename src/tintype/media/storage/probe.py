"""Proves with one small object that each object store can be written, read and emptied, for `tintype cluster check`."""

import secrets

from tintype.base.errors import TintypeError
from tintype.base.settings import Settings
from tintype.media.models import Tier
from tintype.media.storage.connect import open_stores
from tintype.media.storage.object_storage import INCOMING, ObjectStorage


async def probe_stores(settings: Settings) -> dict[Tier, str]:
    """The tiers that have a store of their own, each with what went wrong; nothing went wrong: an empty text."""
    storage = ObjectStorage(open_stores(settings))
    return {tier: await _probe(storage, tier) for tier in storage.tiers}


async def _probe(storage: ObjectStorage, tier: Tier) -> str:
    path, written = f"{INCOMING}/probe-{secrets.token_hex(8)}", secrets.token_bytes(16)
    try:
        await storage.put(path, written, tier=tier)
        opened = await storage.open(path, tier=tier)
        read = b"".join([chunk async for chunk in opened.chunks])
        await storage.delete([path], tier=tier)
    except TintypeError as error:
        return " ".join(f"{error} {error.__cause__ or ''}".split())[:300]
    return "" if read == written else "returned other bytes than were written"
