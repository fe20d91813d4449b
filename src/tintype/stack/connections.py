"""Addresses of a stack's servers, for Tintype's own processes and for tests."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class Connections:
    """Addresses of a running stack. They contain passwords: pass them by environment, never print them."""

    home: Path
    postgres: tuple[str, ...] = field(repr=False)
    """As the role that the application signs in with."""
    postgres_migrator: tuple[str, ...] = field(default=(), repr=False)
    """As the role that migrates; empty: the same."""
    postgres_admin: tuple[str, ...] = field(default=(), repr=False)
    """As the superuser of embedded servers."""
    redis: str = field(repr=False)
    nats: tuple[str, ...] = field(repr=False)
    http_host: str = "127.0.0.1"
    http_port: int = 0
    mqtt_port: int = 0
    mqtt_ws_port: int = 0
    metrics_port: int = 0

    @property
    def address(self) -> str:
        """The URL to open in a browser on this machine."""
        host = {"0.0.0.0": "localhost", "::": "localhost"}.get(self.http_host, self.http_host)  # noqa: S104 - compared
        return f"http://{host}:{self.http_port}"

    def migration_environment(self) -> Mapping[str, str]:
        """What `tintype migrate` needs beside it, and no other process: addresses with more rights."""
        addresses = {"MIGRATOR": self.postgres_migrator, "ADMIN": self.postgres_admin}
        return {f"TINTYPE_POSTGRES_{name}": json.dumps(dsns) for name, dsns in addresses.items() if dsns}

    def environment(self) -> Mapping[str, str]:
        """The settings that make a process use these servers."""
        return {
            "TINTYPE_HOME": str(self.home),
            "TINTYPE_POSTGRES": json.dumps(self.postgres),
            "TINTYPE_REDIS": self.redis,
            "TINTYPE_NATS": json.dumps(self.nats),
            "TINTYPE_HTTP_HOST": self.http_host,
            "TINTYPE_HTTP_PORT": str(self.http_port),
            "TINTYPE_MQTT_PORT": str(self.mqtt_port),
            "TINTYPE_MQTT_WS_PORT": str(self.mqtt_ws_port),
            "TINTYPE_METRICS_PORT": str(self.metrics_port),
        }
