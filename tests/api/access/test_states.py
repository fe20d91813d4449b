"""Content whose author or itself was taken away: every route answers as if it had never been made, for every caller."""

import secrets
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from tests.api.access.access_rule import OK, AccessRule
from tests.api.access.calls import (
    RULES,
    VARIANT,
    fill_path,
    known_ids,
    list_routes,
    names_in,
    options_of,
    prepare_call,
)
from tests.api.access.scenario import (
    UNKNOWN_ID,
    Kind,
    Scenario,
    account_id,
    ok,
    publish_everything,
    same_refusal,
    set_relation,
    wait_for_worker,
)
from tests.application import serve
from tests.support import Person, RowCleaner, join
from tintype.api.http import scopes
from tintype.base.ids import PostId
from tintype.wiring import Rooms

pytestmark = pytest.mark.slow

TakeAway = Callable[[Rooms, Person, PostId], Awaitable[object]]
AUTHOR_STATES: dict[Kind, TakeAway] = {
    "suspended": lambda rooms, owner, _: rooms.accounts.suspend(account_id(owner)),
    "deactivated": lambda rooms, owner, _: rooms.accounts.deactivate(account_id(owner)),
    "leaving": lambda rooms, owner, _: rooms.accounts.begin_deletion(account_id(owner)),
}
POST_STATES: dict[Kind, TakeAway] = {
    "archived": lambda rooms, owner, post: rooms.posts.archive(post, account_id(owner)),
    "deleted": lambda rooms, owner, post: rooms.posts.remove(post, account_id(owner)),
    "hidden": lambda rooms, owner, post: rooms.posts.hide(post, account_id(owner)),
}
CALLERS = ("anonymous", "stranger", "follower", "moderator")
CONTENT = frozenset({"post_id", "comment_id"})
EVERYTHING = CONTENT | {"account_id", "username", "story_id", "highlight_id", "media_id", "guest_comment_id"}
NEEDS_CREDENTIALS = sorted({VARIANT.sub("", name) for name, rule in RULES.items() if rule.scope})


@pytest.fixture(scope="module")
async def removed(opened_rooms: Rooms, row_cleaner: RowCleaner) -> AsyncIterator[Scenario]:
    """Public authors with one state each, which they got after everybody had seen them."""
    async with serve(opened_rooms) as client:
        people = {name: await join(client, f"gate_{name}") for name in ("stranger", "follower", "moderator")}
        elsewhere = await people["follower"].publish("where others are guests")
        scenario = Scenario(client, opened_rooms, people, {})
        states = AUTHOR_STATES | POST_STATES
        for kind in ("public", *states):
            author = await join(client, f"gate_{kind}")
            for actor, person in people.items():
                await set_relation(opened_rooms, person, actor, author)
            scenario.targets[kind] = await publish_everything(
                author, people["follower"], elsewhere["post_id"]
            )
        # An author who stays as they are, whom the wait below looks for.
        scenario.targets["private"] = scenario.targets["public"]
        await wait_for_worker(scenario)
        for kind, take_away in states.items():
            target = scenario.targets[kind]
            await take_away(opened_rooms, target.owner, PostId(int(target.post_id)))
        yield scenario
    await row_cleaner.run()
    await opened_rooms.redis.flushdb()


def _hidden_by(kind: Kind) -> frozenset[str]:
    return EVERYTHING if kind in AUTHOR_STATES else CONTENT


def _is_asked_for(name: str, rule: AccessRule, hidden: frozenset[str]) -> bool:
    """Whether the route names something hidden in its path and promises that refusals tell nothing."""
    return rule.hides and rule.prepare is None and bool(hidden & set(names_in(name)))


@pytest.mark.parametrize("kind", [*AUTHOR_STATES, *POST_STATES])
async def test_routes_that_name_it_answer_as_if_it_had_never_been_made(removed: Scenario, kind: Kind) -> None:
    wrong: list[str] = []
    tried = 0
    for name, rule in RULES.items():
        if not _is_asked_for(name, rule, _hidden_by(kind)):
            continue
        route = VARIANT.sub("", name)
        for actor in CALLERS:
            call = await prepare_call(removed, rule, "public", actor)
            method, path = fill_path(route, removed, kind, call)
            answer = await removed.send(actor, kind, method, path, **options_of(call))
            expected = 401 if rule.answers["public"][actor] == 401 else 404
            method, path = fill_path(route, removed, kind, dict.fromkeys(names_in(route), UNKNOWN_ID))
            missing = await removed.send(actor, kind, method, path, **options_of(call))
            tried += 1
            if answer.status_code != expected:
                wrong.append(f"{name}, {actor}: {answer.status_code}, not {expected}: {answer.text[:200]}")
            elif not same_refusal(answer, missing):
                wrong.append(
                    f"{name}, {actor}: {answer.text} differs from what was never made: {missing.text}"
                )
    assert tried > 40
    assert wrong == []


@pytest.mark.parametrize("kind", [*AUTHOR_STATES, *POST_STATES])
async def test_no_list_tells_of_it(removed: Scenario, kind: Kind) -> None:
    known = known_ids(removed, kind)
    wrong: list[str] = []
    found = 0
    for name, rule in RULES.items():
        route = VARIANT.sub("", name)
        if not route.startswith("GET ") or "/moderation/" in route:
            continue
        for actor in CALLERS:
            if rule.answers["public"][actor] != OK:
                continue
            call = {} if rule.prepare is None else await prepare_call(removed, rule, "public", actor)
            method, path = fill_path(route, removed, "public", call)
            answer = await removed.send(actor, kind, method, path, **options_of(call))
            found += answer.is_success
            told = [each for each in _hidden_by(kind) if known[each] in answer.text]
            wrong += [f"{name}, {actor}: tells of the author's {each}: {answer.text[:300]}" for each in told]
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
