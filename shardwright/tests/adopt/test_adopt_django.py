"""A Django site, as Django makes it, is widened, adopted into 64 shards while it is written, killed, and returned.

SHARDWRIGHT_ALL_FAULTS=1 ./tintype test all -- -k adopt_django     # killed at every step; by default at three
"""

import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence

import pytest
from adopt_test_site import QUICK, Load, read_old, read_shards, remove_slots
from django_test_site import FOLLOWERS, LOOKUPS, NARROW, SiteWriter, make_site, read_tables
from test_adopt_faults import Action, run_and_kill

from shardwright.adopt import Adopter, Plan, Step, propose
from shardwright.adopt.models import COPYING, SWITCHING
from shardwright.local import LocalServer
from shardwright.topology import Directory
from shardwright.widen import Widener

FreshDatabase = Callable[[LocalServer], Awaitable[str]]
SHARDS = 64
ALL = bool(os.environ.get("SHARDWRIGHT_ALL_FAULTS"))
KILLS: Mapping[Action, Sequence[Step]] = {
    "start": COPYING if ALL else [Step.COPY],
    "switch": SWITCHING if ALL else [Step.DRAIN],
    "back": SWITCHING if ALL else [Step.ACTIVATE],
}


@pytest.fixture
async def old(old_database: str) -> str:
    """The address of the site's database."""
    await make_site(old_database)
    return old_database


@pytest.fixture
async def directory(
    servers: Mapping[str, LocalServer], fresh_database: FreshDatabase
) -> AsyncIterator[Directory]:
    """A directory and two servers without shards."""
    addresses = {name: await fresh_database(server) for name, server in servers.items()}
    directory = await Directory.open(addresses["a"])
    await directory.create()
    for name, dsn in addresses.items():
        await directory.add_server(name, dsn)
    yield directory
    await directory.close()
    await remove_slots(*addresses.values())


@pytest.mark.slow
@pytest.mark.timeout(900)
async def test_a_django_site_is_widened_adopted_killed_and_returned(directory: Directory, old: str) -> None:
    narrow = await propose(old)
    assert "widen" in narrow.to_toml()
    widener = Widener(old)
    await widener.prepare(NARROW)
    await widener.swap()
    await widener.finish()
    tables = await read_tables(old)
    await directory.add_shards(SHARDS, prepare=tables.make)
    plan = (await propose(old)).plan
    assert plan.tenant == "auth_user"
    assert _names(plan) == (set(FOLLOWERS), set(LOOKUPS))
    adopter = Adopter(directory, old, options=QUICK)
    load = Load(old, await directory.load(), SiteWriter)
    await load.start()
    try:
        for action, steps in KILLS.items():
            await load.wait_for_writes(20)
            await _kill_at_each(directory, old, adopter, action, steps)
            assert (await adopter.check()).is_equal
            assert (await adopter.shadow(samples=10)).differences == []
            await load.wait_for_writes(40)
            assert {writer.is_in_shards for writer in load.writers} == {action == "switch"}
    finally:
        await load.stop()
    await adopter.resume()

    rows = await read_old(old, FOLLOWERS, LOOKUPS)
    assert rows == await read_shards(directory, FOLLOWERS, LOOKUPS)
    load.check(rows, "django_admin_log")


async def _kill_at_each(
    directory: Directory, old: str, adopter: Adopter, action: Action, steps: Sequence[Step]
) -> None:
    """A coordinator is killed at the first step, the one that resumes it at the second, and so on."""
    dsn = (await directory.load()).servers["a"].dsn
    for step in steps:
        await run_and_kill(dsn, old, action, step, "effect")
        assert (await adopter.status())[0].step is step
        action = "resume"
    await adopter.resume()


def _names(plan: Plan) -> tuple[set[str], set[str]]:
    return set(plan.followers), set(plan.lookups)
