"""What is wrong with an answer: by its route's access rule, and by the author's state."""

import itertools
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from httpx import Response

from tests.api.access.access_rule import OK, AccessRule
from tests.api.access.calls import (
    RULES,
    VARIANT,
    fill_path,
    known_ids,
    names_in,
    options_of,
    prepare_call,
)
from tests.api.access.scenario import UNKNOWN_ID, Actor, Kind, Scenario, account_id, same_refusal
from tests.support import Person
from tintype.base.ids import PostId
from tintype.wiring import Rooms

OUTSIDERS = {"public": {"blocked"}, "private": {"anonymous", "stranger", "blocked", "moderator"}}
"""From whom what an author posts is hidden."""
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


async def take_away(scenario: Scenario) -> None:
    """Bring each author, or their post, into the state of their name."""
    for kind, change in (AUTHOR_STATES | POST_STATES).items():
        target = scenario.targets[kind]
        await change(scenario.rooms, target.owner, PostId(int(target.post_id)))


async def find_wrong(
    scenario: Scenario, route: str, rule: AccessRule, kind: Kind, actor: Actor, expected: int | str
) -> list[str]:
    """What is wrong with the answer to one caller, by the access rule."""
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


async def find_wrong_refusals(scenario: Scenario, kind: Kind, names: Iterable[str]) -> tuple[int, list[str]]:
    """Call these routes with what was taken away: how many calls, and which answers tell that it was ever made."""
    wrong: list[str] = []
    tried = 0
    for name in names:
        rule, route = RULES[name], VARIANT.sub("", name)
        if not _is_asked_for(name, rule, _taken_away(kind)):
            continue
        for actor in CALLERS:
            call = await prepare_call(scenario, rule, "public", actor)
            method, path = fill_path(route, scenario, kind, call)
            answer = await scenario.send(actor, kind, method, path, **options_of(call))
            expected = 401 if rule.answers["public"][actor] == 401 else 404
            method, path = fill_path(route, scenario, kind, dict.fromkeys(names_in(route), UNKNOWN_ID))
            missing = await scenario.send(actor, kind, method, path, **options_of(call))
            tried += 1
            if answer.status_code != expected:
                wrong.append(f"{name}, {actor}: {answer.status_code}, not {expected}: {answer.text[:200]}")
            elif not same_refusal(answer, missing):
                wrong.append(
                    f"{name}, {actor}: {answer.text} differs from what was never made: {missing.text}"
                )
    return tried, wrong


async def find_told(scenario: Scenario, kind: Kind, names: Iterable[str]) -> tuple[int, list[str]]:
    """Read these routes, of another author and of one whose post is gone: how many answered, and which tell of it."""
    known = known_ids(scenario, kind)
    wrong: list[str] = []
    found = 0
    for name in names:
        rule, route = RULES[name], VARIANT.sub("", name)
        if not route.startswith("GET ") or "/moderation/" in route:
            continue
        for author, actor in itertools.product(_readable_authors(kind, route), CALLERS):
            if rule.answers["public"][actor] != OK:
                continue
            call = {} if rule.prepare is None else await prepare_call(scenario, rule, author, actor)
            method, path = fill_path(route, scenario, author, call)
            answer = await scenario.send(actor, kind, method, path, **options_of(call))
            found += answer.is_success
            told = [each for each in _taken_away(kind) if known[each] in answer.text]
            wrong += [f"{name}, {actor}: tells of the author's {each}: {answer.text[:300]}" for each in told]
    return found, wrong


def _readable_authors(kind: Kind, route: str) -> list[Kind]:
    """Authors whose ids a route is called with: the author whose post is gone too, where it does not name the post."""
    is_named = bool(_taken_away(kind) & set(names_in(route)))
    return ["public"] if is_named or not names_in(route) else ["public", kind]


def _taken_away(kind: Kind) -> frozenset[str]:
    return EVERYTHING if kind in AUTHOR_STATES else CONTENT


def _is_asked_for(name: str, rule: AccessRule, hidden: frozenset[str]) -> bool:
    """Whether the route names something hidden in its path and promises that refusals tell nothing."""
    return rule.hides and rule.prepare is None and bool(hidden & set(names_in(name)))
