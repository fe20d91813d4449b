"""The stack's part of the settings: which servers to start, on which ports."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tintype.base.settings import Loaded
from tintype.stack.data_directory import choose_data_directory
from tintype.stack.machine import ProcessCounts, choose_counts, this_machine
from tintype.stack.postgres_settings import postgres_settings, replica_settings


@dataclass(frozen=True, kw_only=True)
class StackPlan:
    """The operator's choices. A server with an address exists already: nothing is started for it."""

    home: Path
    postgres: tuple[str, ...] = ()
    postgres_migrator: tuple[str, ...] = ()
    postgres_admin: tuple[str, ...] = ()
    """Existing servers as a superuser, if the operator gave that to the supervisor as well: for upkeep of moves."""
    directory: str = ""
    """The database that has the shard map, as the role that migrates. Empty: the first server's."""
    postgres_servers: int = 1
    postgres_replicas: tuple[str, ...] = ()
    """Replicas of existing servers, as `server=address`."""
    replica_count: int = 0
    """Replicas to start for each embedded PostgreSQL server."""
    redis: str = ""
    nats: tuple[str, ...] = ()
    http_host: str = "127.0.0.1"
    http_port: int = 8080
    realtime: bool = False
    """Whether devices may hold live connections: without it NATS listens for no MQTT at all."""
    secret_key: str = field(default="", repr=False)
    """The installation's, if the operator set it; empty: the one in the data directory."""
    mqtt_port: int = 0
    """Zero: NATS does not listen for MQTT."""
    mqtt_ws_port: int = 0
    """Zero: NATS does not listen for MQTT over WebSocket."""
    metrics_host: str = "127.0.0.1"
    metrics_port: int = 0
    """Zero: metrics are served nowhere."""
    fixed_ports: frozenset[str] = frozenset()
    """Ports the operator set explicitly: when one is taken, the start fails instead of using another."""
    finish_moves: bool = False
    """End moves of shards whose old copies are kept, before migrations: those would have to wait for them."""
    web_count: int = 1
    worker_count: int = 1
    postgres_settings: Mapping[str, str] = field(default_factory=dict[str, str])
    """Of the embedded servers, beside those that they always have."""
    replica_settings: Mapping[str, str] = field(default_factory=dict[str, str])
    """Likewise, of their replicas."""
    durable: bool = True
    """False turns fsync off: the databases survive crashes of programs, but not of the machine. For tests."""
    role_prefix: str = ""
    """What the names of the PostgreSQL roles begin with. Empty: there are none, and programs sign in as superuser."""

    @property
    def embedded_replicas(self) -> int:
        """Replicas that are started here, of all servers together."""
        return 0 if self.postgres else self.postgres_servers * self.replica_count

    @property
    def external(self) -> tuple[str, ...]:
        """Names of the servers that exist already and are not started here."""
        given = {"postgres": self.postgres, "redis": self.redis, "nats": self.nats}
        return tuple(name for name, address in given.items() if address)


def stack_plan(loaded: Loaded) -> StackPlan:
    """Return the plan that follows from the settings."""
    settings, origins = loaded.settings, loaded.origins
    machine = this_machine()
    suitable = choose_counts(machine, settings.postgres_servers * settings.postgres_replica_count)
    counts = ProcessCounts(settings.web_workers or suitable.web, settings.worker_count or suitable.workers)
    pooled = settings.postgres_spare_connections + settings.postgres_gather_connections
    servers = postgres_settings(
        machine,
        counts,
        connections=settings.postgres_connections + pooled,
        shard_count=settings.shard_count,
    )
    if settings.postgres_replica_count:
        servers["max_slot_wal_keep_size"] = f"{settings.postgres_replica_wal_mb}MB"
    ports = ("http_port", "mqtt_port", "mqtt_ws_port", "metrics_port")
    return StackPlan(
        home=choose_data_directory(settings.home, is_chosen=origins["home"] != "default"),
        postgres=settings.postgres,
        postgres_migrator=settings.postgres_migrator,
        postgres_admin=settings.postgres_admin,
        directory=settings.directory_migrator or settings.directory,
        postgres_servers=settings.postgres_servers,
        postgres_replicas=settings.postgres_replicas,
        replica_count=settings.postgres_replica_count,
        redis=settings.redis,
        nats=settings.nats,
        http_host=settings.http_host,
        http_port=settings.http_port,
        realtime=not settings.nats if settings.realtime == "auto" else settings.realtime,
        secret_key=settings.secret_key,
        mqtt_port=settings.mqtt_port,
        mqtt_ws_port=settings.mqtt_ws_port,
        metrics_host=settings.metrics_host,
        metrics_port=settings.metrics_port,
        fixed_ports=frozenset(name for name in ports if origins[name] != "default"),
        web_count=counts.web,
        worker_count=counts.workers,
        postgres_settings=servers,
        replica_settings=replica_settings(servers, machine),
        role_prefix=settings.namespace,
    )
