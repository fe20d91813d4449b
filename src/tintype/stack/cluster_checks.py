"""Checks of the engines of a site on several machines: all reachable, clocks, versions, standbys, copies, shards."""

import asyncio
from collections.abc import Sequence

from asyncpg import PostgresError
from nats.js.errors import NotFoundError
from redis.asyncio import Redis

from shardwright.errors import ServerUnavailable, ShardwrightError
from shardwright.topology import Directory, split_hosts
from tintype.base.nats import NatsNames, connect_nats
from tintype.base.settings import Settings, directory_dsn, replica_dsns, server_dsns
from tintype.stack.address_forms import without_secrets
from tintype.stack.doctor_checks import Finding, Verdict
from tintype.stack.existing_servers import (
    MAX_CLOCK_SKEW_S,
    check_nats_servers,
    check_redis_address,
    check_replicas,
    judge_postgres,
)
from tintype.stack.postgres_answer import TIMEOUT_S, PostgresAnswer, ask_postgres, describe
from tintype.stack.replica_status import read_replicas

CLUSTER_SHARDS = 512
_COPIES = 3
_NTP = "Run NTP (chrony, systemd-timesyncd) on every machine: ids contain the time, and stories end by it."


async def check_engines(settings: Settings) -> list[Finding]:
    """Ask every engine that the settings name, all at once."""
    checks = [_check_databases(settings), _check_shards(settings)]
    if settings.redis:
        checks += [check_redis_address(settings.redis), _check_redis_role(settings.redis)]
    if settings.nats:
        checks += [check_nats_servers(settings.nats), _check_nats_copies(settings)]
    return [finding for found in await asyncio.gather(*checks) for finding in found]


async def _check_databases(settings: Settings) -> list[Finding]:
    addresses = dict(server_dsns(settings))
    if settings.directory:
        addresses["directory"] = settings.directory
    names, dsns = list(addresses), list(addresses.values())
    answered = await asyncio.gather(*(_ask(dsn) for dsn in dsns))
    found = [each for dsn, answers in zip(dsns, answered, strict=True) for each in _judge(dsn, answers)]
    found += [
        each for name, answers in zip(names, answered, strict=True) for each in judge_standbys(name, answers)
    ]
    found += judge_together([each for answers in answered for each in answers])
    return found + check_replicas(await read_replicas(server_dsns(settings), replica_dsns(settings)))


async def _ask(dsn: str) -> list[PostgresAnswer]:
    return list(await asyncio.gather(*(ask_postgres(each) for each in split_hosts(dsn))))


def _judge(dsn: str, answers: Sequence[PostgresAnswer]) -> list[Finding]:
    """As doctor does; but here a clock that is wrong is a problem, since others compare themselves with it."""
    is_late = {f"PostgreSQL {each.address}" for each in answers if abs(each.skew_s) > MAX_CLOCK_SKEW_S}
    return [
        Finding(each.subject, Verdict.WRONG, each.detail, _NTP) if each.subject in is_late else each
        for each in judge_postgres(without_secrets(dsn), answers)
    ]


def judge_standbys(server: str, answers: Sequence[PostgresAnswer]) -> list[Finding]:
    """Whether a server's rows would survive the loss of its machine; by what its primary says."""
    primary = next((each for each in answers if not each.problem and not each.is_standby), None)
    if primary is None:
        return []  # that it is missing was said
    subject = f"standbys of {server}"
    if not primary.followers:
        fix = "Give it a standby (deploy/patroni), and name both hosts in its address."
        return [Finding(subject, Verdict.WARNING, "none: its rows are on one machine alone", fix)]
    if not primary.synchronous:
        detail = f"{primary.followers}, none of them synchronous: a fail-over may lose the last moments"
        fix = "With Patroni: synchronous_mode: true. Otherwise set synchronous_standby_names."
        return [Finding(subject, Verdict.WARNING, detail, fix)]
    return [Finding(subject, Verdict.OK, f"{primary.followers}, commits wait for one")]


def judge_together(answers: Sequence[PostgresAnswer]) -> list[Finding]:
    """What only shows when servers are compared: versions and clocks."""
    known = [each for each in answers if not each.problem]
    if not known:
        return []
    versions = sorted({each.major for each in known})
    spread_s = max(each.skew_s for each in known) - min(each.skew_s for each in known)
    shown = ", ".join(map(str, versions))
    found = [
        Finding("PostgreSQL versions", Verdict.OK, f"all are PostgreSQL {shown}")
        if len(versions) == 1
        else Finding(
            "PostgreSQL versions",
            Verdict.WARNING,
            f"differ: {shown}",
            "Bring all to one major version; until then move shards to newer servers only.",
        )
    ]
    if spread_s > MAX_CLOCK_SKEW_S:
        return [*found, Finding("clocks", Verdict.WRONG, f"of servers differ by {spread_s:.1f} s", _NTP)]
    return [*found, Finding("clocks", Verdict.OK, f"of servers agree within {spread_s * 1000:.0f} ms")]


async def _check_shards(settings: Settings) -> list[Finding]:
    """How many logical shards lookups are divided into: for ever, since they never split."""
    subject, count = "logical shards", settings.shard_count
    if not any(settings.postgres) and not settings.directory:
        return []
    try:
        directory = await Directory.open(directory_dsn(settings))
        try:
            shard_map = await directory.load()
        finally:
            await directory.close()
    except ServerUnavailable:
        return []  # that it does not answer is said of the server itself
    except (ShardwrightError, PostgresError):
        if count >= CLUSTER_SHARDS:
            return [Finding(subject, Verdict.OK, f"{count} will be created by `tintype migrate`")]
        fix = f"Set shard_count = {CLUSTER_SHARDS} or more before the first `tintype migrate`: lookups never split."
        return [Finding(subject, Verdict.WARNING, f"{count} would be created", fix)]
    lookups = shard_map.lookup_shards or len(shard_map.owners)
    detail = f"{len(shard_map.owners)} on {len(shard_map.servers)} servers, {lookups} of them with lookups"
    if lookups >= CLUSTER_SHARDS:
        return [Finding(subject, Verdict.OK, detail)]
    fix = (
        f"A cluster begins with {CLUSTER_SHARDS} or more, because lookups (usernames, tags, words) never split. It "
        "works, and ends at that many servers; `tintype plan --shards` says how far."
    )
    return [Finding(subject, Verdict.WARNING, detail, fix)]


async def _check_redis_role(url: str) -> list[Finding]:
    subject = f"Redis {without_secrets(url)} replication"
    client = Redis.from_url(url)
    try:
        async with asyncio.timeout(TIMEOUT_S):
            facts = await client.info("replication")
    except Exception:  # noqa: BLE001 - that it does not answer is said of the server itself
        return []
    finally:
        await client.aclose()
    if facts.get("role") != "master":
        return [Finding(subject, Verdict.WRONG, "is a replica: nothing can be written", "Name its primary.")]
    replicas = int(facts.get("connected_slaves", 0))
    return [
        Finding(subject, Verdict.OK, f"primary with {replicas} replicas; may be lost, and is filled anew")
    ]


async def _check_nats_copies(settings: Settings) -> list[Finding]:
    """How many servers there are, and how many copies the stream of events has."""
    servers = len(settings.nats)
    subject = "NATS copies"
    if servers < _COPIES:
        fix = f"Name {_COPIES} servers of one cluster: otherwise jobs wait while one is away; none is lost."
        return [Finding(subject, Verdict.WARNING, f"{servers} server{'s' * (servers > 1)}", fix)]
    stream = NatsNames(settings.namespace).events_stream
    try:
        async with asyncio.timeout(TIMEOUT_S):
            copies = await _count_copies(settings, stream)
    except NotFoundError:
        return [Finding(subject, Verdict.OK, "the stream of events is created by the first worker")]
    except Exception as error:  # noqa: BLE001 - any failure is the finding
        fix = "Look at the log of the NATS servers: with JetStream, two of three must answer."
        return [Finding(subject, Verdict.WARNING, f"not known: {describe(error)}", fix)]
    if copies < _COPIES:
        fix = f"nats stream edit {stream} --replicas {_COPIES}"
        return [Finding(subject, Verdict.WARNING, f"the stream of events has {copies}", fix)]
    return [Finding(subject, Verdict.OK, f"the stream of events has {copies}")]


async def _count_copies(settings: Settings, stream: str) -> int:
    client = await connect_nats(settings, name="cluster-check")
    try:
        info = await client.jetstream(timeout=TIMEOUT_S).stream_info(stream)
        return info.config.num_replicas or 1
    finally:
        await client.close()
