"""What to run: the settings that concern the stack, whoever they came from."""

from dataclasses import dataclass
from pathlib import Path

from tintype.base.settings import Loaded
from tintype.stack.home import place_home


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The operator's choices. An engine with an address is an existing server: nothing is started for it."""

    home: Path
    postgres: tuple[str, ...] = ()
    postgres_servers: int = 1
    redis: str = ""
    nats: tuple[str, ...] = ()
    http_host: str = "127.0.0.1"
    http_port: int = 8080
    mqtt_port: int = 1883
    mqtt_ws_port: int = 8083
    fixed_ports: frozenset[str] = frozenset()
    """Ports the operator chose by name: when one is taken, that is explained, not avoided."""
    worker_count: int = 1
    durable: bool = True
    """Without it the databases survive crashes of programs, but not of the machine: for tests."""

    @property
    def external(self) -> tuple[str, ...]:
        """Engines that are existing servers."""
        given = {"postgres": self.postgres, "redis": self.redis, "nats": self.nats}
        return tuple(name for name, address in given.items() if address)


def plan_from(loaded: Loaded) -> Plan:
    """Return the plan that the settings ask for."""
    settings, origins = loaded.settings, loaded.origins
    ports = ("http_port", "mqtt_port", "mqtt_ws_port")
    return Plan(
        home=place_home(settings.home, is_chosen=origins["home"] != "default"),
        postgres=settings.postgres,
        postgres_servers=settings.postgres_servers,
        redis=settings.redis,
        nats=settings.nats,
        http_host=settings.http_host,
        http_port=settings.http_port,
        mqtt_port=settings.mqtt_port,
        mqtt_ws_port=settings.mqtt_ws_port,
        fixed_ports=frozenset(name for name in ports if origins[name] != "default"),
        worker_count=settings.worker_count,
    )
