"""Connects commands to this installation's servers: those named in the settings, or the running embedded ones."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from tintype.base.errors import SettingsInvalid
from tintype.base.settings import Settings, load_settings

if TYPE_CHECKING:
    from nats.js import JetStreamContext

    from tintype.base.nats import NatsNames


def running_settings() -> Settings:
    """Return the settings, with the addresses of embedded servers filled in from the running stack."""
    loaded = load_settings()
    settings = loaded.settings
    if settings.postgres and settings.redis and settings.nats:
        return settings
    from tintype.stack import find_addresses  # noqa: PLC0415 - 13 MB, which processes of a stack do not need

    addresses = find_addresses(loaded)
    if addresses is None:
        raise SettingsInvalid(
            "Tintype is not running here. Start it with `tintype up`, or name existing servers in tintype.toml."
        )
    # Servers that the settings name may have become more since the stack was started.
    named = [name for name in ("postgres", "redis", "nats") if getattr(settings, name)]
    embedded = {name: found for name, found in addresses.items() if name.partition("_")[0] not in named}
    return load_settings(overrides=embedded).settings


def databases_settings() -> Settings:
    """Return the settings for a command that needs PostgreSQL alone: existing servers, or the running stack's."""
    settings = load_settings().settings
    return settings if settings.postgres_admin or settings.postgres else running_settings()


@asynccontextmanager
async def open_jetstream(settings: Settings) -> AsyncGenerator["tuple[JetStreamContext, NatsNames]"]:
    """Open a NATS connection for one command; yields its JetStream context and our names on it."""
    from tintype.base.nats import NatsNames, connect_nats  # noqa: PLC0415 - likewise

    nats = await connect_nats(settings, name="cli")
    try:
        yield nats.jetstream(), NatsNames(settings.namespace)
    finally:
        await nats.close()
