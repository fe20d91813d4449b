"""Tells other commands where the servers of a running stack are.

The addresses hold passwords, so they are kept with the secrets, readable by the owner alone; they never enter the
state file that `status` shows.
"""

from typing import Any

import msgspec

from tintype.base.settings import Loaded
from tintype.stack.connections import Connections
from tintype.stack.home import Home, write_private
from tintype.stack.plan import plan_from
from tintype.stack.state import read_running

_FILE = "addresses.json"


def keep_addresses(home: Home, connections: Connections) -> None:
    """Have the addresses of this start on disk."""
    kept = {
        "postgres": connections.postgres,
        "redis": connections.redis,
        "nats": connections.nats,
        "http_host": connections.http_host,
        "http_port": connections.http_port,
        "mqtt_port": connections.mqtt_port,
        "mqtt_ws_port": connections.mqtt_ws_port,
    }
    write_private(home.secrets / _FILE, msgspec.json.encode(kept).decode())


def find_addresses(loaded: Loaded) -> dict[str, Any] | None:
    """The settings that reach the stack running in this home; None when none does."""
    home = Home(plan_from(loaded).home)
    if read_running(home) is None:
        return None
    return {**msgspec.json.decode((home.secrets / _FILE).read_bytes()), "home": str(home.root)}
