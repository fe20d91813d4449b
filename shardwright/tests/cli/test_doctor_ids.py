"""What doctor finds out about ids: shards that a wrong clock carried ahead, and ids that a move left closed."""

from typing import Any

import asyncpg
import pytest

from shardwright.ids import advance_sql, fence_sql
from shardwright.topology import Directory, set_owned

Site = Any  # the fixture's type lives in conftest, which cannot be imported
YEARS_MS = 10 * 366 * 86_400_000


@pytest.fixture
async def number(site: Site) -> int:
    """A shard of server a."""
    directory = await Directory.open(site.servers["a"])
    numbers = (await directory.load()).shards_on("a")
    await directory.close()
    return numbers[0]


async def advice(site: Site) -> list[str]:
    found = (await site.cli("doctor", "--json")).json()["findings"]
    return [
        f"{each['level']}: {each['advice']}"
        for each in found
        if each["check"] == "ids" and each["level"] != "ok"
    ]


@pytest.mark.slow
async def test_a_shard_that_a_wrong_clock_carried_ahead_is_found_and_cured(
    site: Site, a: asyncpg.Connection, number: int
) -> None:
    await a.execute(advance_sql(number, by_ms=YEARS_MS))
    (found,) = await advice(site)
    assert found.startswith(f"warning: run shardwright ids lower --shard {number}")

    lowered = await site.cli("ids", "lower", "--shard", str(number))

    assert (lowered.exit_code, await advice(site)) == (0, [])
    drawn = (await site.cli("ids", "new", "--shard", str(number))).stdout.split()[0]
    (decoded,) = (await site.cli("ids", "decode", drawn, "--json")).json()
    assert decoded["time"] < "2035"


async def test_ids_that_a_rolled_back_move_left_closed_are_found(
    site: Site, a: asyncpg.Connection, number: int
) -> None:
    await a.execute(fence_sql(number, is_fenced=True))
    (found,) = await advice(site)
    assert f"set_owned(connection, {number}, owned=True)" in found

    await set_owned(a, number, owned=True)

    assert await advice(site) == []
