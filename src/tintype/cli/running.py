"""Finds the engines of this installation for commands that need them: named in the settings, or embedded and up."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from nats.js import JetStreamContext

from tintype.base.bus import Names, connect_bus
from tintype.base.errors import SettingsInvalid
from tintype.base.settings import Settings, load_settings
from tintype.stack.addresses import find_addresses


def running_settings() -> Settings:
    """Settings with the addresses of the engines filled in from the running stack where they are embedded."""
    loaded = load_settings()
    settings = loaded.settings
    if settings.postgres and settings.redis and settings.nats:
        return settings
    addresses = find_addresses(loaded)
    if addresses is None:
        raise SettingsInvalid(
            "Tintype is not running here. Start it with `tintype up`, or name existing servers in tintype.toml."
        )
    return load_settings(overrides=addresses).settings


@asynccontextmanager
async def open_bus(settings: Settings) -> AsyncGenerator[tuple[JetStreamContext, Names]]:
    """A short connection to NATS."""
    bus = await connect_bus(settings, name="cli")
    try:
        yield bus.jetstream(), Names(settings.namespace)
    finally:
        await bus.close()
