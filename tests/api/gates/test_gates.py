"""Every route of the app against every kind of caller; a route that no table names fails."""

import re
from collections.abc import AsyncIterator
from typing import Any

import pytest
from litestar import Litestar
from litestar.routes import HTTPRoute

from tests.api.gates import accounts, belongings, comments, saves, search, site
from tests.api.gates.gate import OK, Gate
from tests.api.gates.world import KINDS, NEVER_MADE, Actor, Kind, World, build, same_refusal
from tests.support import delete_all_rows, serve
from tintype.api import create_app
from tintype.base.settings import Settings
from tintype.wiring import Rooms

TABLES: dict[str, Gate] = {
    **site.GATES,
    **accounts.GATES,
    **comments.GATES,
    **saves.GATES,
    **search.GATES,
    **belongings.GATES,
}


def _routes(app: Litestar) -> set[str]:
    found = {
        f"{method} {re.sub(r':[a-z]+}', '}', route.path)}"
        for route in app.routes
        if isinstance(route, HTTPRoute)
        for method in route.methods
    }
    return {each for each in found if not each.startswith(("OPTIONS ", "HEAD "))}


ROUTES = sorted(_routes(create_app(Settings())))


@pytest.fixture(scope="module")
async def world(opened_rooms: Rooms) -> AsyncIterator[World]:
    async with serve(opened_rooms) as client:
        yield await build(client, opened_rooms)
    await delete_all_rows(opened_rooms)
    await opened_rooms.redis.flushdb()


def test_every_route_has_its_gate_and_every_gate_its_route() -> None:
    assert sorted(set(ROUTES) - TABLES.keys()) == [], "routes without a gate"
    assert sorted(TABLES.keys() - set(ROUTES)) == [], "gates without a route"


@pytest.mark.parametrize("route", ROUTES)
async def test_the_gate_lets_through_whom_it_should(world: World, route: str) -> None:
    gate = TABLES[route]
    wrong: list[str] = []
    for kind in KINDS:
        for actor, expected in gate.answers[kind].items():
            wrong += await _knock(world, route, gate, kind, actor, expected)
        if gate.scope and "wrong_scope" in world.tokens:
            wrong += await _knock(world, route, gate, kind, "wrong_scope", 403)
    assert wrong == []


async def _knock(
    world: World, route: str, gate: Gate, kind: Kind, actor: Actor, expected: int | str
) -> list[str]:
    call = await _call(world, gate, kind, actor)
    method, path = _fill(route, world, kind, call)
    answer = await world.send(actor, kind, method, path, **_options(call))
    is_right = answer.is_success if expected == OK else answer.status_code == expected
    if not is_right:
        return [f"{kind} {actor}: {answer.status_code}, not {expected}: {answer.text[:200]}"]
    if gate.hides and answer.status_code == 404:
        return await _told_apart(world, route, call, kind, actor, answer)
    return []


async def _told_apart(
    world: World, route: str, call: dict[str, Any], kind: Kind, actor: Actor, answer: Any
) -> list[str]:
    """What may not be seen must answer as what was never made."""
    method, path = _fill(route, world, kind, dict.fromkeys(_names(route), NEVER_MADE))
    missing = await world.send(actor, kind, method, path, **_options(call))
    if same_refusal(answer, missing):
        return []
    return [f"{kind} {actor}: {answer.text} differs from what was never made: {missing.text}"]


async def _call(world: World, gate: Gate, kind: Kind, actor: Actor) -> dict[str, Any]:
    call: dict[str, Any] = {"params": dict(gate.params)}
    body = gate.body(world, kind) if callable(gate.body) else gate.body
    if body is not None:
        call["json"] = body
    if gate.prepare is not None:
        call |= await gate.prepare(world, kind, actor)
    return call


def _fill(route: str, world: World, kind: Kind, names: dict[str, Any]) -> tuple[str, str]:
    target = world.targets[kind]
    known = {
        "post_id": target.post_id,
        "comment_id": target.comment_id,
        "account_id": target.owner.account_id,
        "username": target.owner.username,
        "path": "somewhere",
        "passkey_id": NEVER_MADE,
        **target.ids,
    } | names
    method, path = route.split(" ", 1)
    return method, path.format(**{name: known[name] for name in _names(route)})


def _names(route: str) -> list[str]:
    return re.findall(r"{(\w+)}", route)


def _options(call: dict[str, Any]) -> dict[str, Any]:
    sent = {"json", "params", "content", "files", "headers", "data"}
    return {name: value for name, value in call.items() if name in sent}
