"""Content whose author or itself was taken away: every route answers as if it had never been made, for every caller."""

import secrets
from collections.abc import AsyncIterator

import pytest

from tests.api.access.calls import RULES, VARIANT, fill_path, list_routes, names_in
from tests.api.access.checks import (
    AUTHOR_STATES,
    POST_STATES,
    find_told,
    find_wrong_refusals,
    take_away,
)
from tests.api.access.scenario import (
    UNKNOWN_ID,
    Kind,
    Scenario,
    account_id,
    ok,
    publish_everything,
    set_relation,
    wait_for_worker,
)
from tests.application import serve
from tests.support import RowCleaner, join
from tintype.api.http import scopes
from tintype.wiring import Rooms

pytestmark = pytest.mark.slow

NEEDS_CREDENTIALS = sorted({VARIANT.sub("", name) for name, rule in RULES.items() if rule.scope})


@pytest.fixture(scope="module")
async def removed(opened_rooms: Rooms, row_cleaner: RowCleaner) -> AsyncIterator[Scenario]:
    """Public authors with one state each, which they got after everybody had seen them."""
    async with serve(opened_rooms) as client:
        people = {name: await join(client, f"gate_{name}") for name in ("stranger", "follower", "moderator")}
        elsewhere = await people["follower"].publish("where others are guests")
        scenario = Scenario(client, opened_rooms, people, {})
        for kind in ("public", *AUTHOR_STATES, *POST_STATES):
            author = await join(client, f"gate_{kind}")
            for actor, person in people.items():
                await set_relation(opened_rooms, person, actor, author)
            scenario.targets[kind] = await publish_everything(
                author, people["follower"], elsewhere["post_id"]
            )
        # An author who stays as they are, whom the wait below looks for.
        scenario.targets["private"] = scenario.targets["public"]
        await wait_for_worker(scenario)
        await take_away(scenario)
        yield scenario
    await row_cleaner.run()
    await opened_rooms.redis.flushdb()


@pytest.mark.parametrize("kind", [*AUTHOR_STATES, *POST_STATES])
async def test_routes_that_name_it_answer_as_if_it_had_never_been_made(removed: Scenario, kind: Kind) -> None:
    tried, wrong = await find_wrong_refusals(removed, kind, RULES)

    assert tried > 40
    assert wrong == []


@pytest.mark.parametrize("kind", [*AUTHOR_STATES, *POST_STATES])
async def test_no_list_tells_of_it(removed: Scenario, kind: Kind) -> None:
    found, wrong = await find_told(removed, kind, RULES)

    assert found > 40
    assert wrong == []


@pytest.mark.parametrize("kind", ["deactivated", "leaving"])
async def test_sessions_of_an_author_who_left_open_nothing(removed: Scenario, kind: Kind) -> None:
    answers: dict[str, int] = {}
    for route in NEEDS_CREDENTIALS:
        method, path = fill_path(route, removed, "public", dict.fromkeys(names_in(route), UNKNOWN_ID))
        answers[route] = (await removed.send("owner", kind, method, path)).status_code
    optional = {route for route, status in answers.items() if status != 401}

    assert len(answers) > 100
    assert {route for route in optional if RULES[route].answers["public"]["anonymous"] == 401} == set()


@pytest.mark.parametrize("scope", sorted(scopes.ALL))
async def test_a_token_with_one_scope_opens_the_routes_of_that_scope_alone(
    removed: Scenario, scope: str
) -> None:
    holder = await join(removed.client, f"gate_{secrets.token_hex(6)}")
    await removed.rooms.accounts.set_role(account_id(holder), "moderator")
    _, token = await removed.rooms.authentication.create_api_token(
        account_id(holder), "one scope", scopes={scope}, known=scopes.ALL, days=1
    )
    removed.tokens["one scope"] = token
    refused: set[str] = set()
    for route in NEEDS_CREDENTIALS:
        method, path = fill_path(route, removed, "public", dict.fromkeys(names_in(route), UNKNOWN_ID))
        answer = await removed.send("one scope", "public", method, path)
        if answer.status_code == 403 and "scope_missing" in answer.text:
            refused.add(route)

    of_scope = {route for route in NEEDS_CREDENTIALS if list_routes()[route].opt.get("scope") == scope}
    heads = {route for route in NEEDS_CREDENTIALS if route.startswith("HEAD ")}  # have no body to say why
    assert of_scope
    assert refused - heads == set(NEEDS_CREDENTIALS) - of_scope - heads
    assert (await ok(removed.people["stranger"].call("GET", "/accounts/me")))["username"] == "gate_stranger"
