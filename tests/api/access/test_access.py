"""Every route of the API against every kind of caller; a route without an access rule fails."""

import re
from collections.abc import AsyncIterator
from typing import Any

import pytest
from httpx import Response
from litestar import Litestar
from litestar.handlers import HTTPRouteHandler
from litestar.routes import HTTPRoute

from tests.api.access import (
    accounts,
    comments,
    demo,
    graph,
    media,
    moderation,
    notifications,
    people,
    personal_data,
    posts,
    profiles,
    push,
    ranking,
    reports,
    saves,
    search,
    site,
    stories,
)
from tests.api.access.access_rule import OK, AccessRule
from tests.api.access.scenario import KINDS, UNKNOWN_ID, Actor, Kind, Scenario, build, lacking, same_refusal
from tests.application import serve
from tests.support import RowCleaner
from tintype.api import create_app
from tintype.api.http import scopes
from tintype.base.settings import Settings
from tintype.wiring import Rooms

RULES: dict[str, AccessRule] = {
    **site.ACCESS_RULES,
    **demo.ACCESS_RULES,
    **accounts.ACCESS_RULES,
    **graph.ACCESS_RULES,
    **people.ACCESS_RULES,
    **profiles.ACCESS_RULES,
    **posts.ACCESS_RULES,
    **media.ACCESS_RULES,
    **comments.ACCESS_RULES,
    **saves.ACCESS_RULES,
    **stories.ACCESS_RULES,
    **search.ACCESS_RULES,
    **notifications.ACCESS_RULES,
    **push.ACCESS_RULES,
    **ranking.ACCESS_RULES,
    **reports.ACCESS_RULES,
    **moderation.ACCESS_RULES,
    **personal_data.ACCESS_RULES,
}
CREDENTIALS = frozenset({"viewer", "guest", "current", "proven"})
VARIANT = re.compile(r" \(.*\)$")
"""A route may have several access rules, told apart by the words in brackets behind it."""
OUTSIDERS = {"public": {"blocked"}, "private": {"anonymous", "stranger", "blocked", "moderator"}}
"""From whom what an author posts is hidden."""


def _routes(app: Litestar) -> dict[str, HTTPRouteHandler]:
    return {
        f"{method} {re.sub(r':[a-z]+}', '}', route.path)}": handler
        for route in app.routes
        if isinstance(route, HTTPRoute)
        for handler in route.route_handlers
        for method in handler.http_methods
        if method != "OPTIONS"
    }


HANDLERS = _routes(create_app(Settings()))


@pytest.fixture(scope="module")
async def scenario(opened_rooms: Rooms, row_cleaner: RowCleaner) -> AsyncIterator[Scenario]:
    async with serve(opened_rooms) as client:
        yield await build(client, opened_rooms)
    await row_cleaner.run()
    await opened_rooms.redis.flushdb()


def test_every_route_has_an_access_rule_and_every_rule_a_route() -> None:
    covered = {VARIANT.sub("", name) for name in RULES}

    assert sorted(HANDLERS.keys() - covered) == [], "routes without an access rule"
    assert sorted(covered - HANDLERS.keys()) == [], "access rules without a route"


def test_only_routes_without_credentials_are_open_to_any_token() -> None:
    asking = {name for name in RULES if CREDENTIALS & _handler(name).parsed_fn_signature.parameters.keys()}

    assert sorted(asking ^ {name for name, rule in RULES.items() if rule.scope}) == []


def test_a_token_with_the_read_scope_changes_nothing() -> None:
    by_scope = {route: handler.opt.get("scope") for route, handler in HANDLERS.items()}

    assert [
        route for route, scope in by_scope.items() if scope == scopes.READ and not route.startswith("GET ")
    ] == []
    assert {route for route, scope in by_scope.items() if scope == scopes.MODERATION} == {
        route for route in HANDLERS if "/moderation/" in route
    }


@pytest.mark.parametrize("name", sorted(RULES))
async def test_the_route_answers_each_kind_of_caller_as_its_rule_says(scenario: Scenario, name: str) -> None:
    rule, route = RULES[name], VARIANT.sub("", name)
    wrong: list[str] = []
    for kind in KINDS:
        for actor, expected in rule.answers[kind].items():
            wrong += await _check(scenario, route, rule, kind, actor, expected)
        if rule.scope:
            program = lacking(_handler(name).opt.get("scope"))
            wrong += await _check(scenario, route, rule, kind, program, "scope_missing")
    assert wrong == []


def _handler(name: str) -> HTTPRouteHandler:
    return HANDLERS[VARIANT.sub("", name)]


async def _check(
    scenario: Scenario, route: str, rule: AccessRule, kind: Kind, actor: Actor, expected: int | str
) -> list[str]:
    call = await _call(scenario, rule, kind, actor)
    method, path = _fill(route, scenario, kind, call)
    answer = await scenario.send(actor, kind, method, path, **_options(call))
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
    known = _known(scenario, kind)
    told = [name for name in _hidden(kind, actor) if known[name] in answer.text]
    return [f"{kind} {actor}: tells of the author's {name}: {answer.text[:300]}" for name in told]


def _misses(scenario: Scenario, kind: Kind, actor: Actor, rule: AccessRule, answer: Response) -> list[str]:
    """Whoever may see it does: an answer that holds nothing for anybody proves nothing."""
    name = rule.shows.get(kind)
    if name is None or not answer.is_success or name in _hidden(kind, actor):
        return []
    if _known(scenario, kind)[name] in answer.text:
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
    ids = {*_known(scenario, kind).values(), *(value for value in call.values() if isinstance(value, str))}
    method, path = _fill(route, scenario, kind, dict.fromkeys(_names(route), UNKNOWN_ID))
    body = {"json": _with_unknown_ids(call["json"], ids)} if "json" in call else {}
    missing = await scenario.send(actor, kind, method, path, **_options(call | body))
    if same_refusal(answer, missing):
        return []
    return [f"{kind} {actor}: {answer.text} differs from what was never made: {missing.text}"]


def _with_unknown_ids(body: dict[str, Any], ids: set[str]) -> dict[str, Any]:
    return {name: UNKNOWN_ID if value in ids else value for name, value in body.items()}


async def _call(scenario: Scenario, rule: AccessRule, kind: Kind, actor: Actor) -> dict[str, Any]:
    call: dict[str, Any] = {"params": dict(rule.params)}
    body = rule.body(scenario, kind) if callable(rule.body) else rule.body
    if body is not None:
        call["json"] = body
    if rule.prepare is not None:
        call |= await rule.prepare(scenario, kind, actor)
    return call


def _fill(route: str, scenario: Scenario, kind: Kind, names: dict[str, Any]) -> tuple[str, str]:
    known = _known(scenario, kind) | names
    method, path = route.split(" ", 1)
    return method, path.format(**{name: known[name] for name in _names(route)})


def _known(scenario: Scenario, kind: Kind) -> dict[str, str]:
    target = scenario.targets[kind]
    return {
        "post_id": target.post_id,
        "comment_id": target.comment_id,
        "account_id": target.owner.account_id,
        "username": target.owner.username,
        "path": "somewhere",
        "passkey_id": UNKNOWN_ID,
        **target.ids,
    }


def _names(route: str) -> list[str]:
    return re.findall(r"{(\w+)}", route)


def _options(call: dict[str, Any]) -> dict[str, Any]:
    sent = {"json", "params", "content", "files", "headers", "data"}
    return {name: value for name, value in call.items() if name in sent}
