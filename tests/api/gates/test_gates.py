"""Every route of the app against every kind of caller; a route that no table names fails."""

import re
from collections.abc import AsyncIterator
from typing import Any

import pytest
from httpx import Response
from litestar import Litestar
from litestar.handlers import HTTPRouteHandler
from litestar.routes import HTTPRoute

from tests.api.gates import (
    accounts,
    belongings,
    comments,
    demo,
    graph,
    media,
    moderation,
    notifications,
    people,
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
from tests.api.gates.gate import OK, Gate
from tests.api.gates.world import KINDS, NEVER_MADE, Actor, Kind, World, build, lacking, same_refusal
from tests.support import delete_all_rows, serve
from tintype.api import create_app, scopes
from tintype.base.settings import Settings
from tintype.wiring import Rooms

TABLES: dict[str, Gate] = {
    **site.GATES,
    **demo.GATES,
    **accounts.GATES,
    **graph.GATES,
    **people.GATES,
    **profiles.GATES,
    **posts.GATES,
    **media.GATES,
    **comments.GATES,
    **saves.GATES,
    **stories.GATES,
    **search.GATES,
    **notifications.GATES,
    **push.GATES,
    **ranking.GATES,
    **reports.GATES,
    **moderation.GATES,
    **belongings.GATES,
}
CREDENTIALS = frozenset({"viewer", "guest", "current", "proven"})
CASE = re.compile(r" \(.*\)$")
"""A route may have several gates: what stands behind it in brackets tells them apart."""
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
async def world(opened_rooms: Rooms) -> AsyncIterator[World]:
    async with serve(opened_rooms) as client:
        yield await build(client, opened_rooms)
    await delete_all_rows(opened_rooms)
    await opened_rooms.redis.flushdb()


def test_every_route_has_its_gate_and_every_gate_its_route() -> None:
    gated = {CASE.sub("", name) for name in TABLES}

    assert sorted(HANDLERS.keys() - gated) == [], "routes without a gate"
    assert sorted(gated - HANDLERS.keys()) == [], "gates without a route"


def test_only_routes_that_ask_for_nobody_are_open_to_any_token() -> None:
    asking = {name for name in TABLES if CREDENTIALS & _handler(name).parsed_fn_signature.parameters.keys()}

    assert sorted(asking ^ {name for name, gate in TABLES.items() if gate.scope}) == []


def test_a_token_that_may_read_changes_nothing() -> None:
    by_scope = {route: handler.opt.get("scope") for route, handler in HANDLERS.items()}

    assert [
        route for route, scope in by_scope.items() if scope == scopes.READ and not route.startswith("GET ")
    ] == []
    assert {route for route, scope in by_scope.items() if scope == scopes.MODERATION} == {
        route for route in HANDLERS if "/moderation/" in route
    }


@pytest.mark.parametrize("name", sorted(TABLES))
async def test_the_gate_lets_through_whom_it_should(world: World, name: str) -> None:
    gate, route = TABLES[name], CASE.sub("", name)
    wrong: list[str] = []
    for kind in KINDS:
        for actor, expected in gate.answers[kind].items():
            wrong += await _knock(world, route, gate, kind, actor, expected)
        if gate.scope:
            program = lacking(_handler(name).opt.get("scope"))
            wrong += await _knock(world, route, gate, kind, program, "scope_missing")
    assert wrong == []


def _handler(name: str) -> HTTPRouteHandler:
    return HANDLERS[CASE.sub("", name)]


async def _knock(
    world: World, route: str, gate: Gate, kind: Kind, actor: Actor, expected: int | str
) -> list[str]:
    call = await _call(world, gate, kind, actor)
    method, path = _fill(route, world, kind, call)
    answer = await world.send(actor, kind, method, path, **_options(call))
    if not _is_right(answer, expected):
        return [f"{kind} {actor}: {answer.status_code}, not {expected}: {answer.text[:200]}"]
    wrong = [] if gate.shows_all else _leaks(world, kind, actor, answer)
    wrong += _misses(world, kind, actor, gate, answer)
    if (gate.hides and answer.status_code == 404) or (gate.is_blind and answer.is_success):
        wrong += await _told_apart(world, route, call, kind, actor, answer)
    return wrong


def _is_right(answer: Response, expected: int | str) -> bool:
    if expected == OK:
        return answer.is_success
    if isinstance(expected, str):
        return answer.status_code == 403 and (not answer.content or answer.json()["code"] == expected)
    return answer.status_code == expected


def _leaks(world: World, kind: Kind, actor: Actor, answer: Response) -> list[str]:
    """Nothing of what is hidden from somebody is in any answer to them."""
    known = _known(world, kind)
    told = [name for name in _hidden(kind, actor) if known[name] in answer.text]
    return [f"{kind} {actor}: tells of the author's {name}: {answer.text[:300]}" for name in told]


def _misses(world: World, kind: Kind, actor: Actor, gate: Gate, answer: Response) -> list[str]:
    """Whoever may see it does: an answer that holds nothing for anybody proves nothing."""
    name = gate.shows.get(kind)
    if name is None or not answer.is_success or name in _hidden(kind, actor):
        return []
    if _known(world, kind)[name] in answer.text:
        return []
    return [f"{kind} {actor}: does not find the author's {name}: {answer.text[:300]}"]


def _hidden(kind: Kind, actor: Actor) -> set[str]:
    content = {"post_id", "comment_id", "media_id", "story_id", "highlight_id"}
    hidden = content if actor in OUTSIDERS[kind] else set[str]()
    return hidden | ({"account_id", "username", "guest_comment_id"} if actor == "blocked" else set())


async def _told_apart(
    world: World, route: str, call: dict[str, Any], kind: Kind, actor: Actor, answer: Response
) -> list[str]:
    """What may not be seen must answer as what was never made, wherever the call names it."""
    ids = {*_known(world, kind).values(), *(value for value in call.values() if isinstance(value, str))}
    method, path = _fill(route, world, kind, dict.fromkeys(_names(route), NEVER_MADE))
    body = {"json": _unmade(call["json"], ids)} if "json" in call else {}
    missing = await world.send(actor, kind, method, path, **_options(call | body))
    if same_refusal(answer, missing):
        return []
    return [f"{kind} {actor}: {answer.text} differs from what was never made: {missing.text}"]


def _unmade(body: dict[str, Any], ids: set[str]) -> dict[str, Any]:
    return {name: NEVER_MADE if value in ids else value for name, value in body.items()}


async def _call(world: World, gate: Gate, kind: Kind, actor: Actor) -> dict[str, Any]:
    call: dict[str, Any] = {"params": dict(gate.params)}
    body = gate.body(world, kind) if callable(gate.body) else gate.body
    if body is not None:
        call["json"] = body
    if gate.prepare is not None:
        call |= await gate.prepare(world, kind, actor)
    return call


def _fill(route: str, world: World, kind: Kind, names: dict[str, Any]) -> tuple[str, str]:
    known = _known(world, kind) | names
    method, path = route.split(" ", 1)
    return method, path.format(**{name: known[name] for name in _names(route)})


def _known(world: World, kind: Kind) -> dict[str, str]:
    target = world.targets[kind]
    return {
        "post_id": target.post_id,
        "comment_id": target.comment_id,
        "account_id": target.owner.account_id,
        "username": target.owner.username,
        "path": "somewhere",
        "passkey_id": NEVER_MADE,
        **target.ids,
    }


def _names(route: str) -> list[str]:
    return re.findall(r"{(\w+)}", route)


def _options(call: dict[str, Any]) -> dict[str, Any]:
    sent = {"json", "params", "content", "files", "headers", "data"}
    return {name: value for name, value in call.items() if name in sent}
