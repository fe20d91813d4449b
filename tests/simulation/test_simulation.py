from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pytest
from prometheus_client import REGISTRY
from typer.testing import CliRunner

from tests.support import delete_all_rows, on_server
from tests.workers import run_worker
from tintype.base.counter_reconciler import CounterReconciler
from tintype.base.settings import Settings
from tintype.cli.entry import build_app
from tintype.cli.simulation_servers import use_running_servers
from tintype.redis.connect import connect_redis
from tintype.simulation import (
    ENTRIES,
    NEVER,
    BulkFill,
    DayPlan,
    Installation,
    Simulation,
    SimulationOptions,
    make_plan,
)
from tintype.wiring import Rooms, build_rooms

TINY = SimulationOptions(people=40, follows=6, hours=24, speed=28_800, seed=1, history=2, probes=20)
HYBRID = 8


@dataclass(frozen=True)
class EmptiedEngines:
    """The tests' servers, emptied between thresholds; the worker runs in the same process."""

    rooms: Rooms

    @asynccontextmanager
    async def build(self, threshold: int) -> AsyncGenerator[Installation]:
        settings = msgspec.structs.replace(
            self.rooms.settings, feed_push_followers=threshold, posts_per_day=1_000
        )
        rooms = build_rooms(settings, self.rooms.shards, self.rooms.redis, self.rooms.nats)
        async with run_worker(rooms, schedules=()):
            yield Installation(rooms, lambda: 0.0, lambda: REGISTRY.get_sample_value(ENTRIES) or 0.0)
        await delete_all_rows(rooms)
        await rooms.redis.flushdb()


def quiet(_threshold: int, _stage: str, _done: int, _total: int) -> None:
    """Report no progress."""


def expected_entries(plan: DayPlan, threshold: int) -> int:
    """One entry per timeline of a follower who reads; a single one for a celebrity's post."""
    readers = set(plan.readers)
    total = 0
    for action in plan.actions:
        if action.kind == "post":
            followers = [each for each in plan.people if action.person in each.followees]
            is_celebrity = len(followers) >= max(1, threshold)
            total += 1 if is_celebrity else sum(each.number in readers for each in followers)
    return total


@pytest.mark.slow
@pytest.mark.usefixtures("clean_streams")
async def test_every_threshold_runs_the_same_day_and_writes_the_expected_entries(rooms: Rooms) -> None:
    plan = make_plan(TINY)
    thresholds = [0, HYBRID, NEVER]

    report = await Simulation(EmptiedEngines(rooms), TINY).compare(thresholds, quiet)

    posts = sum(action.kind == "post" for action in plan.actions)
    assert posts
    for threshold, outcome in zip(thresholds, report.outcomes, strict=True):
        assert (outcome.posts, outcome.reads) == (posts, len(plan.actions) - posts)
        assert (outcome.failed, outcome.unseen) == (0, 0)
        assert outcome.fresh_ms.count == len(plan.watchers)
        assert outcome.read_ms.count == outcome.reads
        assert outcome.entries == expected_entries(plan, threshold)
    pull, hybrid, push = report.outcomes
    assert pull.entries < hybrid.entries < push.entries
    assert pull.stars > hybrid.stars > push.stars == 0
    assert report.advice


@pytest.mark.slow
async def test_people_filled_in_bulk_are_complete(rooms: Rooms) -> None:
    plan = make_plan(TINY)

    ids = await BulkFill(rooms.shards).add_people(plan.people, history=TINY.history)

    assert len(set(ids)) == TINY.people
    for person, account_id in zip(plan.people, ids, strict=True):
        account = await rooms.accounts.get_by_name(f"sim_{person.number}")
        assert account.id == account_id
        assert set(await rooms.graph.list_followees(account_id)) == {ids[each] for each in person.followees}
    assert [each async for each in wrong_counters(rooms)] == []


async def wrong_counters(rooms: Rooms) -> AsyncIterator[str]:
    """Counters that do not equal the rows they count."""
    for report in await CounterReconciler(rooms.shards, rooms.reconciled_counters()).run(fix=False):
        if report.drifted:
            yield f"{report.counter}: {report.examples}"


@pytest.fixture
async def no_leftovers(settings: Settings) -> AsyncIterator[None]:
    """Check after the test that no database and no Redis key of a simulation is left."""
    yield
    for dsn in settings.postgres:
        assert await on_server(dsn, "SELECT datname FROM pg_database WHERE datname LIKE 'simulate%'") == []
    async with connect_redis(settings) as redis:
        assert await redis.keys("simulate*") == []


@pytest.mark.slow
@pytest.mark.usefixtures("no_leftovers")
async def test_an_installation_on_running_servers_is_deleted_afterwards(rooms: Rooms) -> None:
    choices = msgspec.structs.replace(TINY, people=12, follows=3)

    async with use_running_servers(rooms.settings) as servers:
        report = await Simulation(servers, choices).compare([NEVER], quiet)

    assert report.outcomes[0].failed == report.outcomes[0].unseen == 0
    assert report.outcomes[0].reads > 0
    assert report.outcomes[0].cpu_s["worker"] > 0
    names = [str(each.config.name) for each in await rooms.nats.jetstream().streams_info()]
    assert [name for name in names if name.startswith("simulate")] == []
    assert await rooms.accounts.find_id("sim_0") is None


@pytest.mark.parametrize("text", ["", "many", "-1", "1,,2", "99999999999"])
def test_an_invalid_threshold_is_refused(text: str) -> None:
    result = CliRunner().invoke(build_app(["simulate"]), ["simulate", "--thresholds", text])

    assert result.exit_code == 2
    assert "threshold" in result.output


def test_a_day_that_would_take_hours_is_refused() -> None:
    result = CliRunner().invoke(build_app(["simulate"]), ["simulate", "--speed", "2"])

    assert result.exit_code == 2
    assert "--speed" in result.output


def test_a_live_simulation_needs_a_running_installation(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TINTYPE_CONFIG", str(tmp_path / "tintype.toml"))

    result = CliRunner().invoke(build_app(["simulate"]), ["simulate", "--live"])

    assert result.exit_code == 1
    assert "tintype up" in str(result.exception)
