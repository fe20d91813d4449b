"""The scenario for the access rules: a public and a private author, and one person for each relation to them."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from httpx import AsyncClient, Response

from tests.support import Person, eventually, join, photo
from tests.workers import run_worker
from tintype.api.http import scopes
from tintype.base.ids import AccountId
from tintype.wiring import Rooms

Actor = str
Kind = str
KINDS: tuple[Kind, ...] = ("public", "private")
SIGNED_IN: tuple[Actor, ...] = ("stranger", "follower", "blocked", "owner", "moderator")
TAG = "gate"
WORKER_PATIENCE_S = 60
UNKNOWN_ID = "23058430092136"
"""Looks like an id of shard 0, from the first days of the epoch; nothing has it."""


@dataclass
class Target:
    """What the callers try to access: the account and content of one author."""

    owner: Person
    post_id: str
    comment_id: str
    ids: dict[str, str] = field(default_factory=dict[str, str])


@dataclass
class Scenario:
    """The callers, and the content of both authors."""

    client: AsyncClient
    rooms: Rooms
    people: dict[str, Person]
    targets: dict[Kind, Target]
    tokens: dict[Actor, str] = field(default_factory=dict[Actor, str])
    """API tokens: one without each of the scopes, and one that has them all."""

    def person(self, actor: Actor, kind: Kind) -> Person | None:
        """The person of an actor; None for those who are not signed in, and for API tokens."""
        if actor in {"anonymous", *self.tokens}:
            return None
        return self.targets[kind].owner if actor == "owner" else self.people[actor]

    async def send(self, actor: Actor, kind: Kind, method: str, path: str, **options: Any) -> Response:
        """Call a route as an actor."""
        self.client.cookies.clear()
        person = self.person(actor, kind)
        token = self.tokens.get(actor) or (person.token if person else None)
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return await self.client.request(
            method, path, headers=headers | options.pop("headers", {}), **options
        )

    async def stand_in(self, actor: Actor, kind: Kind) -> Person | None:
        """A new person with the same relation to the author, for calls that change the relation."""
        if self.person(actor, kind) is None or actor == "owner":
            return self.person(actor, kind)
        person = await join(self.client, f"gate_{secrets.token_hex(6)}")
        await set_relation(self.rooms, person, actor, self.targets[kind].owner)
        return person


async def build(client: AsyncClient, rooms: Rooms) -> Scenario:
    """Sign everybody up, set their relations to both authors, and let the authors publish."""
    people = {name: await join(client, f"gate_{name}") for name in ("program", *SIGNED_IN) if name != "owner"}
    authors = {kind: await join(client, f"gate_{kind}") for kind in KINDS}
    for kind, author in authors.items():
        await ok(author.call("PATCH", "/accounts/me", json={"is_private": kind == "private"}))
        for actor, person in people.items():
            await set_relation(rooms, person, actor, author)
    await rooms.accounts.set_role(account_id(people["program"]), "moderator")
    friend = people["follower"]
    elsewhere = await friend.publish("where others are guests")
    targets = {
        kind: await publish_everything(author, friend, elsewhere["post_id"])
        for kind, author in authors.items()
    }
    scenario = Scenario(client, rooms, people, targets, await _tokens(rooms, people["program"]))
    await wait_for_worker(scenario)
    return scenario


async def set_relation(rooms: Rooms, person: Person, actor: Actor, author: Person) -> None:
    """Give a person the relation to an author that the actor's name says."""
    if actor == "follower":
        await ok(person.call("PUT", f"/accounts/{author.account_id}/follow"))
        await ok(author.call("PUT", f"/follow-requests/{person.account_id}"))
    elif actor == "blocked":
        await ok(author.call("PUT", f"/blocks/{person.account_id}"))
    elif actor == "moderator":
        await rooms.accounts.set_role(account_id(person), "moderator")


def lacking(scope: str | None) -> Actor:
    """The API token with every scope but this; with all scopes where a route accepts no API token."""
    return f"program without {scope}" if scope else "program"


async def publish_everything(owner: Person, friend: Person, elsewhere_id: str) -> Target:
    """Publish a post with a hashtag, a place, a tag and a comment, a story, and a comment on the friend's post."""
    media_id = (await owner.upload()).json()["media_id"]
    spot = await ok(owner.call("POST", "/places", json={"name": "Gate", "latitude": 1, "longitude": 2}))
    draft = {
        "media_ids": [media_id],
        "caption": f"#{TAG} of @{owner.username}",
        "place": {"place_id": spot["place_id"], "name": "Gate", "lat": 1, "lon": 2},
        "tagged": [{"media_id": media_id, "account_id": friend.account_id, "x": 0.5, "y": 0.5}],
    }
    post = await ok(owner.call("POST", "/posts", json=draft))
    comment = await ok(owner.call("POST", f"/posts/{post['post_id']}/comments", json={"text": "mine"}))
    await ok(owner.call("PUT", f"/posts/{elsewhere_id}/like"))
    words = await ok(owner.call("POST", f"/posts/{elsewhere_id}/comments", json={"text": "a guest's"}))
    story_id = await show_story(owner)
    kept = await ok(owner.call("POST", "/highlights", json={"title": "Gate", "story_ids": [story_id]}))
    ids = {
        "story_id": story_id,
        "highlight_id": kept["highlight_id"],
        "media_id": media_id,
        "tag": TAG,
        "place_id": spot["place_id"],
        "elsewhere_id": elsewhere_id,
        "guest_comment_id": words["comment_id"],
    }
    return Target(owner, post["post_id"], comment["comment_id"], ids)


async def show_story(owner: Person) -> str:
    """A story of somebody's, with a poll, a question and a countdown."""
    ends_at = (datetime.now(UTC) + timedelta(days=1)).isoformat()
    elements = [
        {"type": "poll", "choices": ["yes", "no"]},
        {"type": "question", "prompt": "Why?"},
        {"type": "countdown", "title": "Then", "ends_at": ends_at},
    ]
    sent = {"file": ("photo.jpg", photo(64, 64), "image/jpeg")}
    media = await ok(owner.call("POST", "/media/upload", files=sent, data={"kind": "story"}))
    draft = {"media_id": media["media_id"], "elements": elements}
    return (await ok(owner.call("POST", "/stories", json=draft)))["story_id"]


async def wait_for_worker(scenario: Scenario) -> None:
    """Run a worker until search and feeds have everything."""
    friend, target = scenario.people["follower"], scenario.targets["public"]

    seen = {
        "/search/people?q=gate_p": scenario.targets["private"].owner.account_id,
        "/search/people?q=gate_pu": target.owner.account_id,
        f"/tags/{TAG}/posts": target.post_id,
        f"/places/{target.ids['place_id']}/posts": target.post_id,
        "/feed": target.post_id,
    }

    async def is_shown(path: str, what: str) -> bool:
        return what in (await friend.call("GET", path)).text

    async with run_worker(scenario.rooms):
        for path, what in seen.items():
            await eventually(
                partial(is_shown, path, what), what=f"{path} shows {what}", patience_s=WORKER_PATIENCE_S
            )


async def _tokens(rooms: Rooms, holder: Person) -> dict[Actor, str]:
    made: dict[Actor, str] = {}
    for left_out in (None, *scopes.ALL):
        _, made[lacking(left_out)] = await rooms.authentication.create_api_token(
            account_id(holder), "gate", scopes=scopes.ALL - {left_out}, known=scopes.ALL, days=1
        )
    return made


async def ok(call: Any) -> dict[str, Any]:
    """The body of a response that must be a success."""
    answer = await call
    assert answer.status_code < 300, answer.text
    return answer.json() if answer.content else {}


def same_refusal(one: Response, other: Response) -> bool:
    """Whether two errors differ only in their request id."""
    return one.status_code == other.status_code and _told(one) == _told(other)


def _told(answer: Response) -> dict[str, Any]:
    return _without_request(answer.json()) if answer.content else {}


def _without_request(body: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in body.items() if name != "request_id"}


def account_id(person: Person) -> AccountId:
    """A person's account id as a number."""
    return AccountId(int(person.account_id))
