"""Doctor checks of the existing servers that the settings name: reachable, version, clock skew."""

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import cast

import asyncpg
from asyncpg import Connection
from redis.asyncio import Redis

from tintype.stack.assembly import without_secrets
from tintype.stack.doctor_checks import Finding, Verdict
from tintype.stack.nats import check_nats
from tintype.stack.plan import StackPlan
from tintype.stack.replica_status import ReplicaState, ReplicaStatus

_TIMEOUT_S = 5
_MAX_CLOCK_SKEW_S = 1.0
_MIN_POSTGRES = 15
_MIN_REDIS = (6, 2)
_MORE_RIGHTS = (
    "SELECT has_database_privilege(current_database(), 'CREATE')"  # a superuser has every privilege
)


async def check_existing_servers(plan: StackPlan) -> list[Finding]:
    """Check every existing server of the plan, all at once."""
    checks = [_check("PostgreSQL", dsn, lambda dsn=dsn: _probe_postgres(dsn)) for dsn in plan.postgres if dsn]
    if plan.redis:
        checks.append(_check("Redis", plan.redis, lambda: _probe_redis(plan.redis)))
    if plan.nats:
        checks.append(_check("NATS", plan.nats[0], lambda: _probe_nats(plan.nats)))
    return list(await asyncio.gather(*checks))


def check_replicas(replicas: Sequence[ReplicaStatus]) -> list[Finding]:
    """Judge the replicas, embedded or existing, by what they answered."""
    return [_judge(each) for each in replicas]


def _judge(replica: ReplicaStatus) -> Finding:
    subject = f"replica of {replica.server}, {replica.address}"
    match replica.state:
        case ReplicaState.UNREACHABLE:
            fix = "Reads go to its primary meanwhile. Start it, or correct its address in postgres_replicas."
            return Finding(subject, Verdict.WARNING, f"does not answer: {replica.detail}", fix)
        case ReplicaState.PROMOTED:
            fix = (
                "After a fail-over name it in `postgres` and the other servers in postgres_replicas; embedded ones "
                "change places at the next `tintype up`."
            )
            return Finding(subject, Verdict.WARNING, "is a primary, not a replica", fix)
        case ReplicaState.BEHIND:
            fix = "Reads go to its primary until it has caught up. Look at its log, its disk and the network."
            return Finding(subject, Verdict.WARNING, f"is {replica.lag_s:.0f} s behind", fix)
        case ReplicaState.FOLLOWING if replica.detail:
            fix = (
                "Nothing can be written until its primary answers: see its log. Or promote this replica, as "
                "docs/operating.md says."
            )
            return Finding(subject, Verdict.WARNING, replica.detail, fix)
        case ReplicaState.FOLLOWING:
            behind = (
                f"{(replica.lag_bytes or 0) / 1024**2:.1f} MiB behind" if replica.lag_bytes else "up to date"
            )
            return Finding(subject, Verdict.OK, behind)


async def _check(
    title: str, address: str, probe: Callable[[], Awaitable[tuple[Verdict, str, str]]]
) -> Finding:
    subject = f"{title} {without_secrets(address)}"
    try:
        async with asyncio.timeout(_TIMEOUT_S):
            return Finding(subject, *await probe())
    except Exception as error:  # noqa: BLE001 - any failure is the finding
        fix = "Start it, make it reachable from here, or correct its address in the settings."
        return Finding(subject, Verdict.WRONG, f"does not answer: {type(error).__name__}: {error}", fix)


async def _probe_postgres(dsn: str) -> tuple[Verdict, str, str]:
    connection = cast("Connection", await asyncpg.connect(dsn, timeout=_TIMEOUT_S))
    try:
        asked_at = time.time()
        server_time = cast(
            "float", await connection.fetchval("SELECT extract(epoch FROM clock_timestamp())::float8")
        )
        skew_s = abs(server_time - (asked_at + time.time()) / 2)
        major = connection.get_server_version().major
        has_more_rights = cast("bool", await connection.fetchval(_MORE_RIGHTS))
    finally:
        await connection.close()
    if major < _MIN_POSTGRES:
        return Verdict.WRONG, f"is PostgreSQL {major}", f"Use PostgreSQL {_MIN_POSTGRES} or newer."
    if skew_s > _MAX_CLOCK_SKEW_S:
        return (
            Verdict.WARNING,
            f"its clock differs by {skew_s:.1f} s",
            "Run NTP on both machines: ids contain the time.",
        )
    if has_more_rights:
        return (
            Verdict.WARNING,
            "the application signs in as a role that may create tables, or as a superuser",
            "Run `tintype roles` and put the addresses that it prints into the settings.",
        )
    return Verdict.OK, f"PostgreSQL {major}, clocks agree within {skew_s * 1000:.0f} ms", ""


async def _probe_redis(url: str) -> tuple[Verdict, str, str]:
    client = Redis.from_url(url)
    try:
        version = str((await client.info("server"))["redis_version"])
    finally:
        await client.aclose()
    if tuple(map(int, re.findall(r"\d+", version)[:2])) < _MIN_REDIS:
        return Verdict.WRONG, f"speaks Redis {version}", "Use Redis 6.2 or newer, or Valkey."
    return Verdict.OK, f"speaks Redis {version}", ""


async def _probe_nats(urls: tuple[str, ...]) -> tuple[Verdict, str, str]:
    await check_nats(urls)
    return Verdict.OK, "answers, with JetStream", ""
