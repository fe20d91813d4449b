import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pytest
from prometheus_client import REGISTRY
from typer.testing import CliRunner

from tests.support import delete_all_rows, on_server
from tintype.base.memory import connect_redis
from tintype.base.settings import Settings
from tintype.base.tallies import Reconciler
from tintype.cli.entry import build_app
from tintype.cli.grounds import borrowed_ground
from tintype.simulation import ENTRIES, NEVER, Choices, Plan, Settler, Simulation, Site, make_plan
from tintype.wiring import Rooms, build_rooms
from tintype.worker import Worker

TINY = Choices(people=40, follows=6, hours=24, speed=28_800, seed=1, history=2, probes=20)
HYBRID = 8


@dataclass(frozen=True)
class EmptiedEngines:
    """The engines of the tests, emptied between thresholds; the worker lives in the same process."""

    rooms: Rooms

    @asynccontextmanager
    async def build(self, threshold: int) -> AsyncGenerator[Site]:
        settings = msgspec.structs.replace(
            self.rooms.settings, feed_push_followers=threshold, posts_per_day=1_000
        )
        rooms = build_rooms(settings, self.rooms.shards, self.rooms.redis, self.rooms.bus)
        async with working(rooms):
            yield Site(rooms, lambda: 0.0, lambda: REGISTRY.get_sample_value(ENTRIES) or 0.0)
        await delete_all_rows(rooms)
        await rooms.redis.flushdb()


@asynccontextmanager
async def working(rooms: Rooms) -> AsyncGenerator[None]:
    worker = Worker(rooms.settings, rooms.shards, rooms.bus, handlers=rooms.handlers(), schedules=[])
    async with asyncio.TaskGroup() as group:
        group.create_task(worker.run())
        await asyncio.sleep(0.5)
        yield
        worker.stop()


def quiet(_threshold: int, _stage: str, _done: int, _total: int) -> None:
    """Tell nobody."""


def expected_entries(plan: Plan, threshold: int) -> int:
    """One for each timeline of a follower who reads; one in all for a star's post."""
    readers = set(plan.readers)
    total = 0
    for act in plan.acts:
        if act.deed == "post":
            followers = [each for each in plan.people if act.person in each.followees]
            is_star = len(followers) >= max(1, threshold)
            total += 1 if is_star else sum(each.number in readers for each in followers)
    return total


@pytest.mark.slow
@pytest.mark.usefixtures("clean_streams")
async def test_every_way_serves_the_same_day_and_writes_what_it_should(rooms: Rooms) -> None:
    plan = make_plan(TINY)
    thresholds = [0, HYBRID, NEVER]

    report = await Simulation(EmptiedEngines(rooms), TINY).compare(thresholds, quiet)

    posts = sum(act.deed == "post" for act in plan.acts)
    assert posts
    for threshold, outcome in zip(thresholds, report.outcomes, strict=True):
        assert (outcome.posts, outcome.reads) == (posts, len(plan.acts) - posts)
        assert (outcome.failed, outcome.unseen) == (0, 0)
        assert outcome.fresh_ms.count == len(plan.watchers)
        assert outcome.read_ms.count == outcome.reads
        assert outcome.entries == expected_entries(plan, threshold)
    pull, hybrid, push = report.outcomes
    assert pull.entries < hybrid.entries < push.entries
    assert pull.stars > hybrid.stars > push.stars == 0
    assert report.advice


async def test_people_who_were_settled_in_bulk_are_whole(rooms: Rooms) -> None:
    plan = make_plan(TINY)

    ids = await Settler(rooms.shards).settle(plan.people, history=TINY.history)

    assert len(set(ids)) == TINY.people
    for person, account_id in zip(plan.people, ids, strict=True):
        account = await rooms.accounts.get_by_name(f"sim_{person.number}")
        assert account.id == account_id
        assert set(await rooms.graph.list_followees(account_id)) == {ids[each] for each in person.followees}
    assert [told async for told in drifting(rooms)] == []


async def drifting(rooms: Rooms) -> AsyncIterator[str]:
    """Counts that do not equal the rows they count."""
    for report in await Reconciler(rooms.shards, rooms.tallies()).run(fix=False):
        if report.drifted:
            yield f"{report.tally}: {report.examples}"


@pytest.fixture
async def leftovers(settings: Settings) -> AsyncIterator[None]:
    """Whatever a test builds, nothing of it may stay behind."""
    yield
    for dsn in settings.postgres:
        assert await on_server(dsn, "SELECT datname FROM pg_database WHERE datname LIKE 'simulate%'") == []
    async with connect_redis(settings) as redis:
        assert await redis.keys("simulate*") == []


@pytest.mark.slow
@pytest.mark.usefixtures("leftovers")
async def test_an_installation_on_borrowed_engines_is_gone_afterwards(rooms: Rooms) -> None:
    choices = msgspec.structs.replace(TINY, people=12, follows=3)

    async with borrowed_ground(rooms.settings) as ground:
        report = await Simulation(ground, choices).compare([NEVER], quiet)

    assert report.outcomes[0].failed == report.outcomes[0].unseen == 0
    assert report.outcomes[0].reads > 0
    assert report.outcomes[0].cpu_s["worker"] > 0
    names = [str(each.config.name) for each in await rooms.bus.jetstream().streams_info()]
    assert [name for name in names if name.startswith("simulate")] == []
    assert await rooms.accounts.find_id("sim_0") is None


@pytest.mark.parametrize("text", ["", "many", "-1", "1,,2", "99999999999"])
def test_a_threshold_that_is_none_is_refused(text: str) -> None:
    result = CliRunner().invoke(build_app(["simulate"]), ["simulate", "--thresholds", text])

    assert result.exit_code == 2
    assert "threshold" in result.output


def test_a_day_that_would_take_hours_is_refused() -> None:
    result = CliRunner().invoke(build_app(["simulate"]), ["simulate", "--speed", "2"])

    assert result.exit_code == 2
    assert "--speed" in result.output


def test_a_live_simulation_says_when_nothing_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TINTYPE_CONFIG", str(tmp_path / "tintype.toml"))

    result = CliRunner().invoke(build_app(["simulate"]), ["simulate", "--live"])

    assert result.exit_code == 1
    assert "tintype up" in str(result.exception)
