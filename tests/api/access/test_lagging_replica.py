"""The access rules on a site whose replica still holds everything as it was before anything was hidden.

Everybody could see all of it when the replica stopped. Since then an author became private, removed a follower and
blocked somebody, accounts were suspended and left, posts were archived, hidden and deleted, on the primary alone.
"""

import ast
import inspect
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from httpx import AsyncClient

import tintype
from shardwright.routing import Session
from tests.api.access.access_rule import AccessRule
from tests.api.access.calls import RULES, VARIANT
from tests.api.access.checks import (
    AUTHOR_STATES,
    POST_STATES,
    find_told,
    find_wrong,
    find_wrong_refusals,
    take_away,
)
from tests.api.access.scenario import (
    KINDS,
    Kind,
    Scenario,
    account_id,
    ok,
    publish_everything,
    set_relation,
    wait_for_worker,
)
from tests.application import serve
from tests.lagging_site import LaggingSite
from tests.support import eventually, join
from tests.workers import run_worker
from tintype.wiring import Rooms

pytestmark = pytest.mark.slow

SOURCE = Path(tintype.__file__).parent
READS: dict[str, AccessRule] = {
    name: rule for name, rule in RULES.items() if name.startswith(("GET ", "HEAD "))
}
"""The others change something: a request that does reads at the primary."""
ONLY_TAG = "vanishing"
CallSite = tuple[str, str]
"""A file of the application and the name of a function in it."""


def _call_sites_that_may_read_a_replica() -> set[CallSite]:
    """Every function of the application that calls `replica_reader`."""
    found: set[CallSite] = set()
    for path in SOURCE.rglob("*.py"):
        text = path.read_text()
        if "replica_reader(" not in text or path.name == "replica_reads.py":
            continue
        for function in ast.walk(ast.parse(text)):
            if isinstance(function, ast.AsyncFunctionDef | ast.FunctionDef):
                calls = (each.func for each in ast.walk(function) if isinstance(each, ast.Call))
                if any(isinstance(each, ast.Name) and each.id == "replica_reader" for each in calls):
                    found.add((str(path), function.name))
    return found


@pytest.fixture(scope="module")
def answered_by_replica() -> Iterator[set[CallSite]]:
    """Functions of the application for which a replica has answered since the replica lags."""
    note_replica, found = Session.note_replica, set[CallSite]()

    def note(session: Session, *args: Any) -> None:  # handed on as they came
        frame = inspect.currentframe()
        while frame is not None:
            found.add((frame.f_code.co_filename, frame.f_code.co_name))
            frame = frame.f_back
        note_replica(session, *args)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Session, "note_replica", note)
        yield found


@pytest.fixture(scope="module")
async def lagging(lagging_site: LaggingSite, answered_by_replica: set[CallSite]) -> AsyncIterator[Scenario]:
    """Authors of each kind, hidden since the replica stopped from whom the rules say."""
    async with serve(lagging_site.rooms) as client:
        scenario = await _show_everything(client, lagging_site.rooms)
        await lagging_site.pause_replay(client, "/profiles/gate_public")
        answered_by_replica.clear()
        await _hide(scenario)
        yield scenario
        await lagging_site.resume_replay()


async def _show_everything(client: AsyncClient, rooms: Rooms) -> Scenario:
    """Everybody joins and publishes, and all but the moderator follow the authors; nobody is blocked or private."""
    people = {
        name: await join(client, f"gate_{name}") for name in ("stranger", "follower", "blocked", "moderator")
    }
    elsewhere = await people["follower"].publish("where others are guests")
    scenario = Scenario(client, rooms, people, {})
    for kind in (*KINDS, *AUTHOR_STATES, *POST_STATES):
        author = await join(client, f"gate_{kind}")
        for name in ("follower", *(("stranger", "blocked") if kind in KINDS else ())):
            await set_relation(rooms, people[name], "follower", author)
        scenario.targets[kind] = await publish_everything(author, people["follower"], elsewhere["post_id"])
    await rooms.accounts.set_role(account_id(people["moderator"]), "moderator")
    target = scenario.targets["public"]
    target.ids["only_id"] = (await target.owner.publish(f"#{ONLY_TAG}"))["post_id"]
    await wait_for_worker(scenario)
    return scenario


async def _hide(scenario: Scenario) -> None:
    people = scenario.people
    private = scenario.targets["private"].owner
    await ok(private.call("PATCH", "/accounts/me", json={"is_private": True}))
    for kind in KINDS:
        author = scenario.targets[kind].owner
        await ok(author.call("DELETE", f"/followers/{people['stranger'].account_id}"))
        await ok(author.call("PUT", f"/blocks/{people['blocked'].account_id}"))
    await take_away(scenario)


async def test_every_route_answers_each_caller_as_its_rule_says(lagging: Scenario) -> None:
    wrong = [
        f"{name}: {each}"
        for name, rule in READS.items()
        for kind in KINDS
        for actor, expected in rule.answers[kind].items()
        for each in await find_wrong(lagging, VARIANT.sub("", name), rule, kind, actor, expected)
    ]
    assert wrong == []


@pytest.mark.parametrize("kind", [*AUTHOR_STATES, *POST_STATES])
async def test_nothing_tells_of_what_was_taken_away(lagging: Scenario, kind: Kind) -> None:
    tried, wrong = await find_wrong_refusals(lagging, kind, READS)
    found, told = await find_told(lagging, kind, READS)

    assert min(tried, found) > 30
    assert wrong + told == []


async def test_a_replica_that_lags_has_answered_wherever_one_may(
    lagging: Scenario, lagging_site: LaggingSite, answered_by_replica: set[CallSite]
) -> None:
    before = lagging_site.count_replica_reads()
    public, stranger = lagging.targets["public"], lagging.people["stranger"]
    for path in (
        f"/accounts/{public.owner.account_id}/posts",
        f"/comments/{public.comment_id}/replies",
        "/search/people?q=gate_misspelled",
    ):
        await ok(stranger.call("GET", path))

    assert lagging_site.count_replica_reads() > before
    assert sorted(_call_sites_that_may_read_a_replica() - answered_by_replica) == []


async def test_a_hashtag_is_not_found_any_more_once_its_last_post_is_gone(
    lagging: Scenario, lagging_site: LaggingSite
) -> None:
    public, stranger = lagging.targets["public"], lagging.people["stranger"]
    assert ONLY_TAG in (await stranger.call("GET", f"/search/tags?q={ONLY_TAG}")).text
    await ok(public.owner.call("DELETE", f"/posts/{public.ids['only_id']}"))

    async def is_unlisted() -> bool:
        return await lagging.rooms.search.find_tags(ONLY_TAG, limit=5) == []  # at the primary

    async with run_worker(lagging.rooms):
        await eventually(is_unlisted, what="the worker takes the hashtag off the index")
    for path in (f"/search/tags?q={ONLY_TAG}", f"/search?q={ONLY_TAG}"):
        assert ONLY_TAG not in (await stranger.call("GET", path)).text, path
    assert lagging_site.count_replica_reads() > 0
