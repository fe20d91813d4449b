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
    postgres_replicas: tuple[str, ...] = field(default=(), repr=False)
    """Replicas, as `server=address`, with the role that the application signs in with."""
    redis: str = field(repr=False)
    nats: tuple[str, ...] = field(repr=False)
    realtime: bool = False
    """Whether devices may hold live connections."""
    nats_system: str = field(default="", repr=False)
    """As a user of the system account, where live connections are on."""
    mqtt_upstream: str = ""
    """Where the web process forwards live connections."""
    http_host: str = "127.0.0.1"
    http_port: int = 0
    mqtt_port: int = 0
    mqtt_ws_port: int = 0
    metrics_port: int = 0

    @property
    def has_embedded_replicas(self) -> bool:
        """Whether replicas are started here: those of existing servers are named by the operator."""
        return bool(self.postgres_admin and self.postgres_replicas)

    @property
    def address(self) -> str:
        """The URL to open in a browser on this machine. Passkeys are bound to a name, never to an IP address."""
        local = {"0.0.0.0", "::", "127.0.0.1"}  # noqa: S104 - compared
        host = "localhost" if self.http_host in local else self.http_host
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
            "TINTYPE_POSTGRES_REPLICAS": json.dumps(self.postgres_replicas),
            "TINTYPE_REDIS": self.redis,
            "TINTYPE_NATS": json.dumps(self.nats),
            "TINTYPE_REALTIME": "true" if self.realtime else "false",
            **self._realtime(),
            "TINTYPE_HTTP_HOST": self.http_host,
            "TINTYPE_HTTP_PORT": str(self.http_port),
            "TINTYPE_MQTT_PORT": str(self.mqtt_port),
            "TINTYPE_MQTT_WS_PORT": str(self.mqtt_ws_port),
            "TINTYPE_METRICS_PORT": str(self.metrics_port),
        }

    def _realtime(self) -> Mapping[str, str]:
        known = {"TINTYPE_NATS_SYSTEM": self.nats_system, "TINTYPE_MQTT_UPSTREAM": self.mqtt_upstream}
        return {name: value for name, value in known.items() if value}
