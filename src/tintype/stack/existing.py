"""Looks at the existing servers that the settings name: whether they answer, their versions, their clocks."""

import asyncio
import re
import time
from collections.abc import Awaitable, Callable
from typing import cast

import asyncpg
from asyncpg import Connection
from redis.asyncio import Redis

from tintype.stack.assembly import without_secrets
from tintype.stack.checks import Finding, Verdict
from tintype.stack.nats import check_nats
from tintype.stack.plan import Plan

_TIMEOUT_S = 5
_LARGEST_SKEW_S = 1.0
_OLDEST_POSTGRES = 15
_OLDEST_REDIS = (6, 2)


async def examine_existing(plan: Plan) -> list[Finding]:
    """Ask every existing server of the plan."""
    asked = [_ask("PostgreSQL", dsn, lambda dsn=dsn: _postgres(dsn)) for dsn in plan.postgres]
    if plan.redis:
        asked.append(_ask("Redis", plan.redis, lambda: _redis(plan.redis)))
    if plan.nats:
        asked.append(_ask("NATS", plan.nats[0], lambda: _nats(plan.nats)))
    return list(await asyncio.gather(*asked))


async def _ask(title: str, address: str, look: Callable[[], Awaitable[tuple[Verdict, str, str]]]) -> Finding:
    subject = f"{title} {without_secrets(address)}"
    try:
        async with asyncio.timeout(_TIMEOUT_S):
            return Finding(subject, *await look())
    except Exception as error:  # noqa: BLE001 - whatever went wrong is the finding
        fix = "Start it, open the way to it, or correct its address in the settings."
        return Finding(subject, Verdict.WRONG, f"does not answer: {type(error).__name__}: {error}", fix)


async def _postgres(dsn: str) -> tuple[Verdict, str, str]:
    connection = cast("Connection", await asyncpg.connect(dsn, timeout=_TIMEOUT_S))
    try:
        asked_at = time.time()
        said = cast(
            "float", await connection.fetchval("SELECT extract(epoch FROM clock_timestamp())::float8")
        )
        skew_s = abs(said - (asked_at + time.time()) / 2)
        major = connection.get_server_version().major
    finally:
        await connection.close()
    if major < _OLDEST_POSTGRES:
        return Verdict.WRONG, f"is PostgreSQL {major}", f"Use PostgreSQL {_OLDEST_POSTGRES} or newer."
    if skew_s > _LARGEST_SKEW_S:
        return (
            Verdict.WARNING,
            f"its clock differs by {skew_s:.1f} s",
            "Run NTP on both machines: ids hold the time.",
        )
    return Verdict.OK, f"PostgreSQL {major}, clocks agree within {skew_s * 1000:.0f} ms", ""


async def _redis(url: str) -> tuple[Verdict, str, str]:
    client = Redis.from_url(url)
    try:
        version = str((await client.info("server"))["redis_version"])
    finally:
        await client.aclose()
    if tuple(map(int, re.findall(r"\d+", version)[:2])) < _OLDEST_REDIS:
        return Verdict.WRONG, f"speaks Redis {version}", "Use Redis 6.2 or newer, or Valkey."
    return Verdict.OK, f"speaks Redis {version}", ""


async def _nats(urls: tuple[str, ...]) -> tuple[Verdict, str, str]:
    await check_nats(urls)
    return Verdict.OK, "answers, with JetStream", ""
