"""The stack's part of the settings: which servers to start, on which ports."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tintype.base.settings import Loaded
from tintype.stack.data_directory import choose_data_directory
from tintype.stack.machine import ProcessCounts, choose_counts, this_machine
from tintype.stack.postgres_settings import postgres_settings


@dataclass(frozen=True, kw_only=True)
class StackPlan:
    """The operator's choices. A server with an address exists already: nothing is started for it."""

    home: Path
    postgres: tuple[str, ...] = ()
    postgres_migrator: tuple[str, ...] = ()
    postgres_servers: int = 1
    redis: str = ""
    nats: tuple[str, ...] = ()
    http_host: str = "127.0.0.1"
    http_port: int = 8080
    mqtt_port: int = 0
    """Zero: NATS does not listen for MQTT."""
    mqtt_ws_port: int = 0
    """Zero: NATS does not listen for MQTT over WebSocket."""
    metrics_host: str = "127.0.0.1"
    metrics_port: int = 0
    """Zero: metrics are served nowhere."""
    fixed_ports: frozenset[str] = frozenset()
    """Ports the operator set explicitly: when one is taken, the start fails instead of using another."""
    web_count: int = 1
    worker_count: int = 1
    postgres_settings: Mapping[str, str] = field(default_factory=dict[str, str])
    """Of the embedded servers, beside those that they always have."""
    durable: bool = True
    """False turns fsync off: the databases survive crashes of programs, but not of the machine. For tests."""
    role_prefix: str = ""
    """What the names of the PostgreSQL roles begin with. Empty: there are none, and programs sign in as superuser."""

    @property
    def external(self) -> tuple[str, ...]:
        """Names of the servers that exist already and are not started here."""
        given = {"postgres": self.postgres, "redis": self.redis, "nats": self.nats}
        return tuple(name for name, address in given.items() if address)


def stack_plan(loaded: Loaded) -> StackPlan:
    """Return the plan that follows from the settings."""
    settings, origins = loaded.settings, loaded.origins
    machine = this_machine()
    suitable = choose_counts(machine)
    counts = ProcessCounts(settings.web_workers or suitable.web, settings.worker_count or suitable.workers)
    ports = ("http_port", "mqtt_port", "mqtt_ws_port", "metrics_port")
    return StackPlan(
        home=choose_data_directory(settings.home, is_chosen=origins["home"] != "default"),
        postgres=settings.postgres,
        postgres_migrator=settings.postgres_migrator,
        postgres_servers=settings.postgres_servers,
        redis=settings.redis,
        nats=settings.nats,
        http_host=settings.http_host,
        http_port=settings.http_port,
        mqtt_port=settings.mqtt_port,
        mqtt_ws_port=settings.mqtt_ws_port,
        metrics_host=settings.metrics_host,
        metrics_port=settings.metrics_port,
        fixed_ports=frozenset(name for name in ports if origins[name] != "default"),
        web_count=counts.web,
        worker_count=counts.workers,
        postgres_settings=postgres_settings(
            machine,
            counts,
            connections=settings.postgres_connections,
            shard_count=settings.shard_count,
        ),
        role_prefix=settings.namespace,
    )
