"""Every route with its access rule, and how to call it: ids in the path, bodies, files."""

import re
from functools import cache
from typing import Any

from litestar.handlers import HTTPRouteHandler
from litestar.routes import HTTPRoute

from tests.api.access import (
    accounts,
    comments,
    demo,
    direct,
    encryption,
    graph,
    imports,
    media,
    moderation,
    notifications,
    people,
    personal_data,
    posts,
    previews,
    profiles,
    push,
    ranking,
    realtime,
    reports,
    saves,
    search,
    site,
    stories,
    sync,
)
from tests.api.access.access_rule import AccessRule
from tests.api.access.scenario import UNKNOWN_ID, Actor, Kind, Scenario
from tintype.api import create_app
from tintype.base.settings import Settings

RULES: dict[str, AccessRule] = {
    **site.ACCESS_RULES,
    **previews.ACCESS_RULES,
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
    **direct.ACCESS_RULES,
    **encryption.ACCESS_RULES,
    **search.ACCESS_RULES,
    **notifications.ACCESS_RULES,
    **sync.ACCESS_RULES,
    **realtime.ACCESS_RULES,
    **push.ACCESS_RULES,
    **ranking.ACCESS_RULES,
    **reports.ACCESS_RULES,
    **moderation.ACCESS_RULES,
    **personal_data.ACCESS_RULES,
    **imports.ACCESS_RULES,
}
VARIANT = re.compile(r" \(.*\)$")
"""A route may have several access rules, told apart by the words in brackets behind it."""


@cache
def list_routes() -> dict[str, HTTPRouteHandler]:
    """Handlers by method and path; built once, and not before a test asks: a whole application takes a while."""
    return {
        f"{method} {re.sub(r':[a-z]+}', '}', route.path)}": handler
        for route in create_app(Settings()).routes
        if isinstance(route, HTTPRoute)
        for handler in route.route_handlers
        for method in handler.http_methods
        if method != "OPTIONS"
    }


def handler_of(name: str) -> HTTPRouteHandler:
    return list_routes()[VARIANT.sub("", name)]


async def prepare_call(scenario: Scenario, rule: AccessRule, kind: Kind, actor: Actor) -> dict[str, Any]:
    call: dict[str, Any] = {"params": dict(rule.params)}
    body = rule.body(scenario, kind) if callable(rule.body) else rule.body
    if body is not None:
        call["json"] = body
    if rule.prepare is not None:
        call |= await rule.prepare(scenario, kind, actor)
    return call


def fill_path(route: str, scenario: Scenario, kind: Kind, names: dict[str, Any]) -> tuple[str, str]:
    known = known_ids(scenario, kind) | names
    method, path = route.split(" ", 1)
    return method, path.format(**{name: known[name] for name in names_in(route)})


def known_ids(scenario: Scenario, kind: Kind) -> dict[str, str]:
    target = scenario.targets[kind]
    return {
        "post_id": target.post_id,
        "comment_id": target.comment_id,
        "account_id": target.owner.account_id,
        "username": target.owner.username,
        "path": "somewhere",
        "name": "posts-0-0.xml",
        "passkey_id": UNKNOWN_ID,
        **target.ids,
    }


def names_in(route: str) -> list[str]:
    return re.findall(r"{(\w+)}", route)


def options_of(call: dict[str, Any]) -> dict[str, Any]:
    sent = {"json", "params", "content", "files", "headers", "data"}
    return {name: value for name, value in call.items() if name in sent}
