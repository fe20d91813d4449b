"""What the server writes for guests, crawlers and other sites: of a public author alone, and never of the private one.

Whoever sends credentials gets the app's plain page; an embed or oEmbed they get as everybody, unless they are blocked.
"""

from typing import Any

from shardwright.ids import encode_short
from tests.api.access.access_rule import CARD, EVERYBODY, AccessRule, ByKind, access, anybody
from tests.api.access.scenario import TAG, Actor, Kind, Scenario
from tintype.base.settings import site_url

PAGE: ByKind = {"public": EVERYBODY, "private": EVERYBODY | {"anonymous": 404}}
OUTSIDE: ByKind = {"public": CARD, "private": anybody(404)}


async def _post(scenario: Scenario, kind: Kind, _actor: Actor) -> dict[str, Any]:
    return {"path": f"p/{encode_short(int(scenario.targets[kind].post_id))}"}


async def _profile(scenario: Scenario, kind: Kind, _actor: Actor) -> dict[str, Any]:
    return {"path": f"@{scenario.targets[kind].owner.username}"}


async def _tag(_scenario: Scenario, _kind: Kind, _actor: Actor) -> dict[str, Any]:
    """Both authors use it, and nothing of the private one is told."""
    return {"path": f"tags/{TAG}"}


async def _embed(scenario: Scenario, kind: Kind, actor: Actor) -> dict[str, Any]:
    return {"path": f"{(await _post(scenario, kind, actor))['path']}/embed"}


async def _oembed_post(scenario: Scenario, kind: Kind, actor: Actor) -> dict[str, Any]:
    path = (await _post(scenario, kind, actor))["path"]
    return {"params": {"url": f"{site_url(scenario.rooms.settings)}/{path}"}}


async def _oembed_profile(scenario: Scenario, kind: Kind, actor: Actor) -> dict[str, Any]:
    path = (await _profile(scenario, kind, actor))["path"]
    return {"params": {"url": f"{site_url(scenario.rooms.settings)}/{path}"}}


ACCESS_RULES: dict[str, AccessRule] = {
    "GET /robots.txt": access(EVERYBODY, scope=False),
    "GET /sitemap.xml": access(anybody(404), scope=False),  # offered by a setting
    "GET /sitemaps/{name}": access(anybody(404), scope=False),
    "GET /oembed (a post)": access(OUTSIDE, prepare=_oembed_post, scope=False),
    "GET /oembed (a profile)": access(OUTSIDE, prepare=_oembed_profile, scope=False),
    "GET /{path} (a post)": access(PAGE, prepare=_post, scope=False),
    "GET /{path} (a profile)": access(PAGE, prepare=_profile, scope=False),
    "GET /{path} (a hashtag)": access(EVERYBODY, prepare=_tag, scope=False),
    "GET /{path} (an embed)": access(OUTSIDE, prepare=_embed, scope=False),
}
