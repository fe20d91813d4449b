"""Every route of the API against every kind of caller; a route without an access rule fails."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from httpx import Response

from tests.api.access.access_rule import OK, AccessRule
from tests.api.access.calls import (
    RULES,
    VARIANT,
    fill_path,
    handler_of,
    known_ids,
    list_routes,
    names_in,
    options_of,
    prepare_call,
)
from tests.api.access.scenario import KINDS, UNKNOWN_ID, Actor, Kind, Scenario, build, lacking, same_refusal
from tests.application import serve
from tests.support import RowCleaner
from tintype.api.http import scopes
from tintype.wiring import Rooms

CREDENTIALS = frozenset({"viewer", "guest", "current", "confirmed", "proven"})
OUTSIDERS = {"public": {"blocked"}, "private": {"anonymous", "stranger", "blocked", "moderator"}}
"""From whom what an author posts is hidden."""


@pytest.fixture(scope="module")
async def scenario(opened_rooms: Rooms, row_cleaner: RowCleaner) -> AsyncIterator[Scenario]:
    async with serve(opened_rooms) as client:
        yield await build(client, opened_rooms)
    await row_cleaner.run()
    await opened_rooms.redis.flushdb()


def test_every_route_has_an_access_rule_and_every_rule_a_route() -> None:
    covered = {VARIANT.sub("", name) for name in RULES}

    assert sorted(list_routes().keys() - covered) == [], "routes without an access rule"
    assert sorted(covered - list_routes().keys()) == [], "access rules without a route"


def test_only_routes_without_credentials_are_open_to_any_token() -> None:
    asking = {name for name in RULES if CREDENTIALS & handler_of(name).parsed_fn_signature.parameters.keys()}

    assert sorted(asking ^ {name for name, rule in RULES.items() if rule.scope}) == []


def test_a_token_with_the_read_scope_changes_nothing() -> None:
    by_scope = {route: handler.opt.get("scope") for route, handler in list_routes().items()}

    assert [
        route for route, scope in by_scope.items() if scope == scopes.READ and not route.startswith("GET ")
    ] == []
    assert {route for route, scope in by_scope.items() if scope == scopes.MODERATION} == {
        route for route in list_routes() if "/moderation/" in route
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(RULES))
async def test_the_route_answers_each_kind_of_caller_as_its_rule_says(scenario: Scenario, name: str) -> None:
    rule, route = RULES[name], VARIANT.sub("", name)
    wrong: list[str] = []
    for kind in KINDS:
        for actor, expected in rule.answers[kind].items():
            wrong += await _check(scenario, route, rule, kind, actor, expected)
        if rule.scope:
            program = lacking(handler_of(name).opt.get("scope"))
            wrong += await _check(scenario, route, rule, kind, program, "scope_missing")
    assert wrong == []


async def _check(
    scenario: Scenario, route: str, rule: AccessRule, kind: Kind, actor: Actor, expected: int | str
) -> list[str]:
    call = await prepare_call(scenario, rule, kind, actor)
    method, path = fill_path(route, scenario, kind, call)
    answer = await scenario.send(actor, kind, method, path, **options_of(call))
    if not _is_right(answer, expected):
        return [f"{kind} {actor}: {answer.status_code}, not {expected}: {answer.text[:200]}"]
    wrong = [] if rule.shows_all else _leaks(scenario, kind, actor, answer)
    wrong += _misses(scenario, kind, actor, rule, answer)
    if (rule.hides and answer.status_code == 404) or (rule.is_blind and answer.is_success):
        wrong += await _distinguishable(scenario, route, call, kind, actor, answer)
    return wrong


def _is_right(answer: Response, expected: int | str) -> bool:
    if expected == OK:
        return answer.is_success
    if isinstance(expected, str):
        return answer.status_code == 403 and (not answer.content or answer.json()["code"] == expected)
    return answer.status_code == expected


def _leaks(scenario: Scenario, kind: Kind, actor: Actor, answer: Response) -> list[str]:
    """Nothing of what is hidden from somebody is in any answer to them."""
    known = known_ids(scenario, kind)
    told = [name for name in _hidden(kind, actor) if known[name] in answer.text]
    return [f"{kind} {actor}: tells of the author's {name}: {answer.text[:300]}" for name in told]


def _misses(scenario: Scenario, kind: Kind, actor: Actor, rule: AccessRule, answer: Response) -> list[str]:
    """Whoever may see it does: an answer that holds nothing for anybody proves nothing."""
    name = rule.shows.get(kind)
    if name is None or not answer.is_success or name in _hidden(kind, actor):
        return []
    if known_ids(scenario, kind)[name] in answer.text:
        return []
    return [f"{kind} {actor}: does not find the author's {name}: {answer.text[:300]}"]


def _hidden(kind: Kind, actor: Actor) -> set[str]:
    content = {"post_id", "comment_id", "media_id", "story_id", "highlight_id"}
    hidden = content if actor in OUTSIDERS[kind] else set[str]()
    return hidden | ({"account_id", "username", "guest_comment_id"} if actor == "blocked" else set())


async def _distinguishable(
    scenario: Scenario, route: str, call: dict[str, Any], kind: Kind, actor: Actor, answer: Response
) -> list[str]:
    """What may not be seen must answer as what was never made, wherever the call names it."""
    ids = {*known_ids(scenario, kind).values(), *(value for value in call.values() if isinstance(value, str))}
    method, path = fill_path(route, scenario, kind, dict.fromkeys(names_in(route), UNKNOWN_ID))
    body = {"json": _with_unknown_ids(call["json"], ids)} if "json" in call else {}
    missing = await scenario.send(actor, kind, method, path, **options_of(call | body))
    if same_refusal(answer, missing):
        return []
    return [f"{kind} {actor}: {answer.text} differs from what was never made: {missing.text}"]


def _with_unknown_ids(body: dict[str, Any], ids: set[str]) -> dict[str, Any]:
    return {name: UNKNOWN_ID if value in ids else value for name, value in body.items()}
