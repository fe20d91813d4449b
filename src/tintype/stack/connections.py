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
    redis: str = field(repr=False)
    nats: tuple[str, ...] = field(repr=False)
    http_host: str = "127.0.0.1"
    http_port: int = 0
    mqtt_port: int = 0
    mqtt_ws_port: int = 0

    @property
    def address(self) -> str:
        """The URL to open in a browser on this machine."""
        host = {"0.0.0.0": "localhost", "::": "localhost"}.get(self.http_host, self.http_host)  # noqa: S104 - compared
        return f"http://{host}:{self.http_port}"

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
        }
