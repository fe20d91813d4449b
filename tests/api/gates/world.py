"""A small world for the gates: two authors, one of them private, and one person for every way of standing to them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from httpx import AsyncClient, Response

from tests.support import Person, join
from tintype.base.ids import AccountId
from tintype.wiring import Rooms

Actor = str
Kind = str
KINDS: tuple[Kind, ...] = ("public", "private")
SIGNED_IN: tuple[Actor, ...] = ("stranger", "follower", "blocked", "owner", "moderator")
NEVER_MADE = "23058430092136"
"""Looks like an id of shard 0, from the first days of the epoch; nothing was ever made under it."""


@dataclass
class Target:
    """What the callers reach for: everything of one author's."""

    owner: Person
    post_id: str
    comment_id: str
    ids: dict[str, str] = field(default_factory=dict[str, str])


@dataclass
class World:
    """The people, and what there is to see."""

    client: AsyncClient
    rooms: Rooms
    people: dict[str, Person]
    targets: dict[Kind, Target]
    tokens: dict[str, str] = field(default_factory=dict[str, str])

    def person(self, actor: Actor, kind: Kind) -> Person | None:
        """Who plays a part."""
        if actor == "anonymous":
            return None
        return self.targets[kind].owner if actor == "owner" else self.people[actor]

    async def send(self, actor: Actor, kind: Kind, method: str, path: str, **options: Any) -> Response:
        """Call a route in somebody's name."""
        self.client.cookies.clear()
        person = self.person(actor, kind)
        token = self.tokens.get(actor) or (person.token if person else None)
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return await self.client.request(
            method, path, headers=headers | options.pop("headers", {}), **options
        )


async def build(client: AsyncClient, rooms: Rooms) -> World:
    """Everybody joins, the authors post, friends follow, and one is blocked by both."""
    names = ("stranger", "follower", "blocked", "moderator", "reader")
    people = {name: await join(client, f"gate_{name}") for name in names}
    targets: dict[Kind, Target] = {}
    for kind in KINDS:
        owner = await join(client, f"gate_{kind}")
        post = await owner.publish(f"a photo by {kind}")
        comment = await ok(owner.call("POST", f"/posts/{post['post_id']}/comments", json={"text": "mine"}))
        targets[kind] = Target(owner, post["post_id"], comment["comment_id"])
        await ok(people["follower"].call("PUT", f"/accounts/{owner.account_id}/follow"))
    return World(client, rooms, people, targets)


async def ok(call: Any) -> dict[str, Any]:
    """The body of an answer that must have worked."""
    answer = await call
    assert answer.status_code < 300, answer.text
    return answer.json() if answer.content else {}


def same_refusal(one: Response, other: Response) -> bool:
    """Whether two refusals cannot be told apart but by the id of the request."""
    return (
        _without_request(one.json()) == _without_request(other.json())
        and one.status_code == other.status_code
    )


def _without_request(body: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in body.items() if name != "request_id"}


def account_id(person: Person) -> AccountId:
    """The number behind a person."""
    return AccountId(int(person.account_id))
