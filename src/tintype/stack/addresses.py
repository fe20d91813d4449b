"""Saves the addresses of a running stack's servers, so that other commands can connect to them.

The addresses contain passwords, so the file lies with the secrets, readable by the owner alone; they never enter the
state file that `status` shows.
"""

from typing import Any

import msgspec

from tintype.base.settings import Loaded
from tintype.stack.connections import Connections
from tintype.stack.data_directory import DataDirectory, write_private
from tintype.stack.plan import stack_plan
from tintype.stack.state import read_running

_FILE = "addresses.json"


def save_addresses(home: DataDirectory, connections: Connections) -> None:
    """Write the addresses of this start to the data directory."""
    addresses = {
        "postgres": connections.postgres,
        "postgres_migrator": connections.postgres_migrator,
        "postgres_admin": connections.postgres_admin,
        "postgres_replicas": connections.postgres_replicas,
        "redis": connections.redis,
        "nats": connections.nats,
        "realtime": connections.realtime,
        "nats_system": connections.nats_system,
        "mqtt_upstream": connections.mqtt_upstream,
        "http_host": connections.http_host,
        "http_port": connections.http_port,
        "mqtt_port": connections.mqtt_port,
        "mqtt_ws_port": connections.mqtt_ws_port,
        "metrics_port": connections.metrics_port,
    }
    known = {name: address for name, address in addresses.items() if address}
    write_private(home.secrets / _FILE, msgspec.json.encode(known).decode())


def find_addresses(loaded: Loaded) -> dict[str, Any] | None:
    """Return the settings that connect to the stack running in this data directory; None when none is running."""
    home = DataDirectory(stack_plan(loaded).home)
    if read_running(home) is None:
        return None
    return {**msgspec.json.decode((home.secrets / _FILE).read_bytes()), "home": str(home.root)}
