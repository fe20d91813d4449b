"""Turns a plan into programs: which servers are started here, on which ports, and their addresses."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

from tintype.base.secret_key import read_or_create
from tintype.stack.connections import Connections
from tintype.stack.data_directory import DataDirectory
from tintype.stack.errors import EngineUnreachable
from tintype.stack.nats import NatsPorts, check_nats, nats_program
from tintype.stack.plan import StackPlan
from tintype.stack.ports import Ports
from tintype.stack.postgres import check_postgres, postgres_program
from tintype.stack.program import Program
from tintype.stack.valkey import check_redis, valkey_program

_TIMEOUT_S = 15.0
_POLL_S = 0.5


async def assemble(plan: StackPlan, home: DataDirectory, ports: Ports) -> tuple[list[Program], Connections]:
    """Prepare the embedded servers without starting them; return their programs and all servers' addresses."""
    mqtt, mqtt_ws = _choose(plan, ports, "mqtt_port"), _choose(plan, ports, "mqtt_ws_port")
    databases = [] if plan.postgres else await _databases(plan, home, ports)
    caches = (
        [] if plan.redis else [valkey_program(home, ports.choose_internal("redis"), _secret(home, "redis"))]
    )
    brokers = [] if plan.nats else [_nats(plan, home, ports, mqtt, mqtt_ws)]
    admin = tuple(dsn for _, dsn in databases)
    connections = Connections(
        home=plan.home,
        postgres=plan.postgres or _as_role(plan, home, admin, "runtime"),
        postgres_migrator=plan.postgres_migrator
        if plan.postgres
        else _as_role(plan, home, admin, "migrator"),
        postgres_admin=admin,
        redis=plan.redis or caches[0][1],
        nats=plan.nats or (brokers[0][1],),
        http_host=plan.http_host,
        http_port=_choose(plan, ports, "http_port"),
        mqtt_port=mqtt,
        mqtt_ws_port=mqtt_ws,
        metrics_port=_choose_metrics(plan, ports),
    )
    return [program for program, _ in (*databases, *caches, *brokers)], connections


async def wait_for_existing_servers(plan: StackPlan) -> None:
    """Wait until every existing server of the plan answers; `EngineUnreachable` when one does not in time."""
    checks: list[Awaitable[None]] = [
        _wait_for("PostgreSQL", dsn, lambda dsn=dsn: check_postgres(dsn)) for dsn in plan.postgres
    ]
    if plan.redis:
        checks.append(_wait_for("Redis", plan.redis, lambda: check_redis(plan.redis)))
    if plan.nats:
        checks.append(_wait_for("NATS", plan.nats[0], lambda: check_nats(plan.nats)))
    await asyncio.gather(*checks)


def count_servers(plan: StackPlan, home: DataDirectory) -> int:
    """How many PostgreSQL servers to start: never fewer than have data, since each of them holds shards."""
    return max(plan.postgres_servers, home.count_postgres())


def without_secrets(address: str) -> str:
    """The part of an address that may be shown: host and port, no password."""
    parts = urlsplit(address)
    return f"{parts.hostname or 'localhost'}:{parts.port}" if parts.port else parts.hostname or "localhost"


async def _databases(plan: StackPlan, home: DataDirectory, ports: Ports) -> list[tuple[Program, str]]:
    numbers = range(1, count_servers(plan, home) + 1)
    chosen = {number: ports.choose_internal(f"postgres-{number}") for number in numbers}
    return await asyncio.gather(
        *(
            postgres_program(
                number,
                home.postgres(number),
                chosen[number],
                durable=plan.durable,
                settings=plan.postgres_settings,
            )
            for number in numbers
        )
    )


def _as_role(plan: StackPlan, home: DataDirectory, dsns: tuple[str, ...], kind: str) -> tuple[str, ...]:
    """The addresses of embedded servers as a role that the migration creates; the superuser's where there is none."""
    if not plan.role_prefix:
        return dsns
    user = f"{plan.role_prefix}_{kind}:{_secret(home, f'postgres-{kind}')}"
    return tuple(f"postgresql://{user}@{dsn.rpartition('@')[2]}" for dsn in dsns)


def _nats(plan: StackPlan, home: DataDirectory, ports: Ports, mqtt: int, mqtt_ws: int) -> tuple[Program, str]:
    own = NatsPorts(ports.choose_internal("nats"), mqtt, mqtt_ws)
    return nats_program(
        home,
        plan.http_host,
        own,
        password=_secret(home, "nats"),
        system_password=_secret(home, "nats-system"),
    )


def _choose(plan: StackPlan, ports: Ports, name: str) -> int:
    """Choose the port of a public service; 0 in the plan means any free port for the web, and none for MQTT."""
    preferred = int(getattr(plan, name))
    if name != "http_port" and (plan.nats or preferred == 0):
        return preferred  # the existing NATS server listens there, we do not
    if preferred == 0:
        return ports.choose_internal(name)
    return ports.choose_public(name, plan.http_host, preferred, is_fixed=name in plan.fixed_ports)


def _choose_metrics(plan: StackPlan, ports: Ports) -> int:
    """Choose the port of the metrics, so that two data directories on one machine both have theirs; 0 means none."""
    preferred, is_fixed = plan.metrics_port, "metrics_port" in plan.fixed_ports
    if preferred == 0:
        return 0
    return ports.choose_public("metrics_port", plan.metrics_host, preferred, is_fixed=is_fixed)


def _secret(home: DataDirectory, name: str) -> str:
    return read_or_create(home.secrets / name).decode()


async def _wait_for(title: str, address: str, check: Callable[[], Awaitable[None]]) -> None:
    deadline = time.monotonic() + _TIMEOUT_S
    while True:
        try:
            await check()
        except Exception as error:
            if time.monotonic() > deadline:
                raise EngineUnreachable(
                    f"The {title} server named in the settings, {without_secrets(address)}, does not answer: "
                    f"{type(error).__name__}: {error}. Start it or correct the setting; see `tintype config`."
                ) from error
            await asyncio.sleep(_POLL_S)
        else:
            return
