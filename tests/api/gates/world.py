"""A small world for the gates: two authors, one of them private, and one person for every way of standing to them."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from httpx import AsyncClient, Response

from tests.support import Person, join
from tintype.api import scopes
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
    tokens: dict[Actor, str] = field(default_factory=dict[Actor, str])
    """Tokens of programs: one for every scope that it lacks, and one that has them all."""

    def person(self, actor: Actor, kind: Kind) -> Person | None:
        """Who plays a part; nobody for those who have not signed in, and for programs."""
        if actor in {"anonymous", *self.tokens}:
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

    async def stand_in(self, actor: Actor, kind: Kind) -> Person | None:
        """Somebody new who stands to the author as the caller does, for calls that change just that."""
        if self.person(actor, kind) is None or actor == "owner":
            return self.person(actor, kind)
        person = await join(self.client, f"gate_{secrets.token_hex(6)}")
        await place(self.rooms, person, actor, self.targets[kind].owner)
        return person


async def build(client: AsyncClient, rooms: Rooms) -> World:
    """Everybody joins, the authors post, a friend follows both, and both block the same person."""
    people = {name: await join(client, f"gate_{name}") for name in ("program", *SIGNED_IN) if name != "owner"}
    targets = {kind: await _author(client, kind) for kind in KINDS}
    for target in targets.values():
        for actor, person in people.items():
            await place(rooms, person, actor, target.owner)
    await rooms.accounts.standing.set_role(account_id(people["program"]), "moderator")
    return World(client, rooms, people, targets, await _tokens(rooms, people["program"]))


async def place(rooms: Rooms, person: Person, actor: Actor, author: Person) -> None:
    """Bring somebody to stand to an author as a part asks for."""
    if actor == "follower":
        await ok(person.call("PUT", f"/accounts/{author.account_id}/follow"))
        await ok(author.call("PUT", f"/follow-requests/{person.account_id}"))
    elif actor == "blocked":
        await ok(author.call("PUT", f"/blocks/{person.account_id}"))
    elif actor == "moderator":
        await rooms.accounts.standing.set_role(account_id(person), "moderator")


def lacking(scope: str | None) -> Actor:
    """The program that may do everything but this; where a route is for no program, the one that may do all."""
    return f"program without {scope}" if scope else "program"


async def _author(client: AsyncClient, kind: Kind) -> Target:
    owner = await join(client, f"gate_{kind}")
    await ok(owner.call("PATCH", "/accounts/me", json={"is_private": kind == "private"}))
    media_id = (await owner.upload()).json()["media_id"]
    post = await ok(owner.call("POST", "/posts", json={"media_ids": [media_id], "caption": f"of {kind}"}))
    comment = await ok(owner.call("POST", f"/posts/{post['post_id']}/comments", json={"text": "mine"}))
    return Target(owner, post["post_id"], comment["comment_id"], {"media_id": media_id})


async def _tokens(rooms: Rooms, holder: Person) -> dict[Actor, str]:
    made: dict[Actor, str] = {}
    for left_out in (None, *scopes.ALL):
        _, made[lacking(left_out)] = await rooms.accounts.programs.make(
            account_id(holder), "gate", scopes=scopes.ALL - {left_out}, known=scopes.ALL, days=1
        )
    return made


async def ok(call: Any) -> dict[str, Any]:
    """The body of an answer that must have worked."""
    answer = await call
    assert answer.status_code < 300, answer.text
    return answer.json() if answer.content else {}


def same_refusal(one: Response, other: Response) -> bool:
    """Whether two refusals cannot be told apart but by the id of the request."""
    return one.status_code == other.status_code and _told(one) == _told(other)


def _told(answer: Response) -> dict[str, Any]:
    return _without_request(answer.json()) if answer.content else {}


def _without_request(body: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in body.items() if name != "request_id"}


def account_id(person: Person) -> AccountId:
    """The number behind a person."""
    return AccountId(int(person.account_id))
