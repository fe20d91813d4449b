"""Doctor checks of the existing servers that the settings name: reachable, version, clock skew.

Of an address with several hosts, and of a list of NATS servers, each host is asked by itself.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Sequence

from redis.asyncio import Redis

from shardwright.topology import split_hosts
from tintype.stack.address_forms import without_secrets
from tintype.stack.doctor_checks import Finding, Verdict
from tintype.stack.nats import check_nats
from tintype.stack.plan import StackPlan
from tintype.stack.postgres_answer import TIMEOUT_S, PostgresAnswer, ask_postgres, describe
from tintype.stack.replica_status import ReplicaState, ReplicaStatus

MAX_CLOCK_SKEW_S = 1.0
MIN_POSTGRES = 15
_MIN_REDIS = (6, 2)
_START_IT = "Start it, make it reachable from here, or correct its address in the settings."
_OTHERS_SERVE = "The others serve meanwhile. Start it, or take it out of the address."


async def check_existing_servers(plan: StackPlan) -> list[Finding]:
    """Check every existing server of the plan, all at once."""
    checks = [check_postgres_address(dsn) for dsn in plan.postgres if dsn]
    if plan.redis:
        checks.append(check_redis_address(plan.redis))
    if plan.nats:
        checks.append(check_nats_servers(plan.nats))
    return [finding for found in await asyncio.gather(*checks) for finding in found]


async def check_postgres_address(dsn: str) -> list[Finding]:
    """Ask every host of an address: one of them must be the primary, and those that are down are named."""
    answers = await asyncio.gather(*(ask_postgres(each) for each in split_hosts(dsn)))
    return judge_postgres(without_secrets(dsn), answers)


async def check_redis_address(url: str) -> list[Finding]:
    """Check the server at a `redis://`, `rediss://` or `unix://` address."""
    return [await _check(f"Redis {without_secrets(url)}", lambda: _probe_redis(url))]


async def check_nats_servers(urls: Sequence[str]) -> list[Finding]:
    """Check each server of the list; one that is down is wrong only where no other answers."""
    return _excuse_some(
        await asyncio.gather(
            *(_check(f"NATS {without_secrets(url)}", lambda url=url: _probe_nats(url)) for url in urls)
        )
    )


def judge_postgres(address: str, answers: Sequence[PostgresAnswer]) -> list[Finding]:
    """What the hosts of one address answered: a finding for each, and one more where the primary is not clear."""
    found = _excuse_some([_judge_host(each, is_one_of_many=len(answers) > 1) for each in answers])
    primaries = [each.address for each in answers if not each.problem and not each.is_standby]
    if all(each.problem for each in answers) or len(primaries) == 1:
        return found
    subject = f"PostgreSQL {address}"
    if primaries:
        detail = f"{len(primaries)} of its hosts are primaries: {', '.join(primaries)}"
        fix = "These are different servers, or an old primary came back: give each server an address of its own."
        return [*found, Finding(subject, Verdict.WRONG, detail, fix)]
    fix = "Promote one (with Patroni: `patronictl failover`), or add the primary to the address."
    return [*found, Finding(subject, Verdict.WRONG, "only standbys answer: nothing can be written", fix)]


def _excuse_some(found: Sequence[Finding]) -> list[Finding]:
    """Hosts that do not answer are warnings where another one does."""
    if all(each.fix == _START_IT for each in found):
        return list(found)
    return [
        Finding(each.subject, Verdict.WARNING, each.detail, _OTHERS_SERVE) if each.fix == _START_IT else each
        for each in found
    ]


def _judge_host(answer: PostgresAnswer, *, is_one_of_many: bool) -> Finding:
    subject = f"PostgreSQL {answer.address}"
    if answer.problem:
        return Finding(subject, Verdict.WRONG, f"does not answer: {answer.problem}", _START_IT)
    if answer.major < MIN_POSTGRES:
        fix = f"Use PostgreSQL {MIN_POSTGRES} or newer."
        return Finding(subject, Verdict.WRONG, f"is PostgreSQL {answer.major}", fix)
    if abs(answer.skew_s) > MAX_CLOCK_SKEW_S:
        detail = f"its clock differs by {abs(answer.skew_s):.1f} s"
        return Finding(subject, Verdict.WARNING, detail, "Run NTP on both machines: ids contain the time.")
    if answer.may_create:
        return Finding(
            subject,
            Verdict.WARNING,
            "the application signs in as a role that may create tables, or as a superuser",
            "Run `tintype roles` and put the addresses that it prints into the settings.",
        )
    role = ("standby, " if answer.is_standby else "primary, ") if is_one_of_many else ""
    detail = f"{role}PostgreSQL {answer.major}, clocks agree within {abs(answer.skew_s) * 1000:.0f} ms"
    return Finding(subject, Verdict.OK, detail)


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


async def _check(subject: str, probe: Callable[[], Awaitable[tuple[Verdict, str, str]]]) -> Finding:
    try:
        async with asyncio.timeout(TIMEOUT_S):
            return Finding(subject, *await probe())
    except Exception as error:  # noqa: BLE001 - any failure is the finding
        return Finding(subject, Verdict.WRONG, f"does not answer: {describe(error)}", _START_IT)


async def _probe_redis(url: str) -> tuple[Verdict, str, str]:
    client = Redis.from_url(url)
    try:
        version = str((await client.info("server"))["redis_version"])
    finally:
        await client.aclose()
    if tuple(map(int, re.findall(r"\d+", version)[:2])) < _MIN_REDIS:
        return Verdict.WRONG, f"speaks Redis {version}", "Use Redis 6.2 or newer, or Valkey."
    return Verdict.OK, f"speaks Redis {version}", ""


async def _probe_nats(url: str) -> tuple[Verdict, str, str]:
    await check_nats((url,))
    return Verdict.OK, "answers, with JetStream", ""
