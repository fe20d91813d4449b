"""The PostgreSQL servers that `status` and `doctor` ask: existing ones, or the running embedded ones."""

import msgspec

from tintype.base.settings import Loaded, Settings
from tintype.stack import find_addresses

_ADDRESSES = ("postgres", "postgres_migrator", "postgres_replicas")


def with_running_servers(loaded: Loaded) -> Settings | None:
    """The settings, with the addresses of the running embedded servers where none are named; None when none run."""
    if loaded.settings.postgres:
        return loaded.settings
    addresses = find_addresses(loaded)
    if addresses is None:
        return None
    found = {name: tuple(addresses.get(name, ())) for name in _ADDRESSES}
    return msgspec.structs.replace(loaded.settings, **found)
