"""Turns a plan into programs: which servers are started here, on which ports, and their addresses."""

import asyncio
import time
from collections.abc import Awaitable, Callable

from shardwright.local import ServerFiles
from tintype.base.errors import SettingsInvalid
from tintype.base.secret_key import read_or_create
from tintype.stack.address_forms import without_secrets
from tintype.stack.applications import reachable
from tintype.stack.connections import Connections
from tintype.stack.data_directory import DataDirectory
from tintype.stack.errors import EngineUnreachable
from tintype.stack.nats import NatsPorts, check_nats, nats_program, nats_url
from tintype.stack.plan import StackPlan
from tintype.stack.ports import Ports
from tintype.stack.postgres import check_postgres, postgres_program
from tintype.stack.program import Program
from tintype.stack.replica import replica_program, unused_replicas
from tintype.stack.replica_data import adopt_promoted
from tintype.stack.valkey import check_redis, valkey_program

_TIMEOUT_S = 15.0
_POLL_S = 0.5


async def assemble(plan: StackPlan, home: DataDirectory, ports: Ports) -> tuple[list[Program], Connections]:
    """Prepare the embedded servers without starting them; return their programs and all servers' addresses."""
    _check_replicas(plan)
    mqtt, mqtt_ws = _choose(plan, ports, "mqtt_port"), _choose(plan, ports, "mqtt_ws_port")
    databases = [] if plan.postgres else await _databases(plan, home, ports)
    caches = (
        [] if plan.redis else [valkey_program(home, ports.choose_internal("redis"), _secret(home, "redis"))]
    )
    nats_ports = None if plan.nats else _nats_ports(plan, ports, mqtt, mqtt_ws)
    brokers = [_nats(plan, home, nats_ports)] if nats_ports else []
    admin = tuple(files.dsn() for _, files in databases)
    replicas = _replicas(plan, home, ports, [files for _, files in databases])
    connections = Connections(
        home=plan.home,
        postgres=plan.postgres or _as_role(plan, home, admin, "runtime"),
        postgres_migrator=plan.postgres_migrator
        if plan.postgres
        else _as_role(plan, home, admin, "migrator"),
        postgres_admin=admin,
        postgres_replicas=plan.postgres_replicas
        or tuple(
            f"{name}={dsn}"
            for (name, _, _), dsn in zip(
                replicas, _as_role(plan, home, tuple(dsn for _, _, dsn in replicas), "runtime"), strict=True
            )
        ),
        redis=plan.redis or caches[0][1],
        nats=plan.nats or (brokers[0][1],),
        realtime=plan.realtime,
        nats_system=nats_url(nats_ports.port, _secret(home, "nats-system"), user="system")
        if nats_ports and plan.realtime
        else "",
        mqtt_upstream=f"{reachable(nats_ports.mqtt_host)}:{nats_ports.mqtt_port}"
        if nats_ports and plan.realtime
        else "",
        http_host=plan.http_host,
        http_port=_choose(plan, ports, "http_port"),
        mqtt_port=mqtt,
        mqtt_ws_port=mqtt_ws,
        metrics_port=_choose_metrics(plan, ports),
    )
    servers = [program for program, _ in (*databases, *caches, *brokers)]
    return [*servers, *(program for _, program, _ in replicas)], connections


async def wait_for_existing_servers(plan: StackPlan) -> None:
    """Wait until every existing server of the plan answers; `EngineUnreachable` when one does not in time."""
    checks: list[Awaitable[None]] = [
        _wait_for("PostgreSQL", dsn, lambda dsn=dsn: check_postgres(dsn)) for dsn in plan.postgres if dsn
    ]
    if plan.redis:
        checks.append(_wait_for("Redis", plan.redis, lambda: check_redis(plan.redis)))
    if plan.nats:
        checks.append(_wait_for("NATS", plan.nats[0], lambda: check_nats(plan.nats)))
    await asyncio.gather(*checks)


def count_servers(plan: StackPlan, home: DataDirectory) -> int:
    """How many PostgreSQL servers to start: never fewer than have data, since each of them holds shards."""
    return max(plan.postgres_servers, home.count_postgres())


def _check_replicas(plan: StackPlan) -> None:
    if plan.postgres and plan.replica_count:
        raise SettingsInvalid(
            "Replicas are started for embedded PostgreSQL servers alone. Name those of your own servers in "
            "postgres_replicas, and leave out --replicas and postgres_replica_count."
        )
    if plan.postgres_replicas and not plan.postgres:
        raise SettingsInvalid(
            "postgres_replicas names replicas of your own PostgreSQL servers, but `postgres` names no server. For "
            "replicas of embedded servers: postgres_replica_count, or `tintype up --replicas`."
        )


async def _databases(plan: StackPlan, home: DataDirectory, ports: Ports) -> list[tuple[Program, ServerFiles]]:
    numbers = range(1, count_servers(plan, home) + 1)
    for number in numbers:
        ports.notes += adopt_promoted(home, number)
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


def _replicas(
    plan: StackPlan, home: DataDirectory, ports: Ports, primaries: list[ServerFiles]
) -> list[tuple[str, Program, str]]:
    """Replicas to start: the name of their server, the program and the DSN."""
    made: list[tuple[str, Program, str]] = []
    for number, primary in enumerate(primaries, start=1):
        for each in range(1, plan.replica_count + 1):
            program, dsn = replica_program(
                home,
                (number, each),
                ports.choose_internal(home.replica(number, each).name),
                primary,
                durable=plan.durable,
                settings=plan.replica_settings,
            )
            made.append((f"pg{number}", program, dsn))
    unused = unused_replicas(home, len(primaries), plan.replica_count)
    ports.notes += [
        f"{each.name}: this replica is not started; delete {each} if it is not wanted any more"
        for each in unused
    ]
    return made


def _as_role(plan: StackPlan, home: DataDirectory, dsns: tuple[str, ...], kind: str) -> tuple[str, ...]:
    """The addresses of embedded servers as a role that the migration creates; the superuser's where there is none."""
    if not plan.role_prefix:
        return dsns
    user = f"{plan.role_prefix}_{kind}:{_secret(home, f'postgres-{kind}')}"
    return tuple(f"postgresql://{user}@{dsn.rpartition('@')[2]}" for dsn in dsns)


def _nats_ports(plan: StackPlan, ports: Ports, mqtt: int, mqtt_ws: int) -> NatsPorts:
    """The ports of the embedded server; the web process reaches it by MQTT also where nobody else may."""
    internal = ports.choose_internal("mqtt") if plan.realtime and not mqtt else 0
    host = plan.http_host if mqtt else "127.0.0.1"
    return NatsPorts(ports.choose_internal("nats"), mqtt or internal, mqtt_ws, mqtt_host=host)


def _nats(plan: StackPlan, home: DataDirectory, ports: NatsPorts) -> tuple[Program, str]:
    return nats_program(
        home,
        plan.http_host,
        ports,
        password=_secret(home, "nats"),
        system_password=_secret(home, "nats-system"),
        issuer=_issuer(plan, home) if plan.realtime else "",
    )


def _issuer(plan: StackPlan, home: DataDirectory) -> str:
    from tintype.base.nats_keys import IssuerKey  # noqa: PLC0415 - 7 MB that a supervisor otherwise has no use for

    return IssuerKey((plan.secret_key or _secret(home, "key")).encode()).public


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
