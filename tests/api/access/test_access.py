"""Every route of the API against every kind of caller; a route without an access rule fails."""

from collections.abc import AsyncIterator

import pytest

from tests.api.access.calls import RULES, VARIANT, handler_of, list_routes
from tests.api.access.checks import find_wrong
from tests.api.access.scenario import KINDS, Scenario, build, lacking
from tests.application import serve
from tests.support import RowCleaner
from tintype.api.http import scopes
from tintype.wiring import Rooms

CREDENTIALS = frozenset({"viewer", "guest", "current", "confirmed", "proven"})


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
            wrong += await find_wrong(scenario, route, rule, kind, actor, expected)
        if rule.scope:
            program = lacking(handler_of(name).opt.get("scope"))
            wrong += await find_wrong(scenario, route, rule, kind, program, "scope_missing")
    assert wrong == []
