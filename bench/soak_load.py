"""The mixed load of `bench soak`: people who read, like, comment, follow and post, each at their own pace."""

import asyncio
import io
import itertools
import json
import random
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from PIL import Image

from bench.http_load import Call, HttpConnection, UnexpectedStatus
from bench.social_calls import MakeCall, comment, follow, like, popular, profile
from bench.social_sites import Site

BOUNDARY = "a-boundary-of-the-bench"
PASSWORD = "a sentence for the bench"  # noqa: S105 - of no real account
POSTS_EACH = 2
JOINING_AT_ONCE = 4
LOST = (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError)


@dataclass
class Counted:
    """Requests since the counts were last taken."""

    took_s: list[float] = field(default_factory=list[float])
    errors: list[str] = field(default_factory=list[str])

    def take(self) -> "Counted":
        """Return the counts so far and begin anew."""
        taken = Counted(self.took_s, self.errors)
        self.took_s, self.errors = [], []
        return taken


def feed(site: Site, chance: random.Random, _: int) -> Call:
    """Somebody reads their feed."""
    return Call("GET", "/api/v1/feed", chance.choice(site.tokens))


def notifications(site: Site, chance: random.Random, _: int) -> Call:
    """Somebody reads their notifications."""
    return Call("GET", "/api/v1/notifications", chance.choice(site.tokens))


def comments(site: Site, chance: random.Random, _: int) -> Call:
    """Somebody reads what others say about a post."""
    post = site.posts[popular(chance, len(site.posts))]
    return Call("GET", f"/api/v1/posts/{post}/comments", chance.choice(site.tokens))


def search(site: Site, chance: random.Random, _: int) -> Call:
    """Somebody looks for a person."""
    name = site.usernames[popular(chance, len(site.usernames))]
    return Call("GET", f"/api/v1/search/people?q={name[:-1]}", chance.choice(site.tokens))


MIX: dict[MakeCall, int] = {
    feed: 40,
    profile: 18,
    like: 16,
    comment: 6,
    follow: 5,
    notifications: 8,
    comments: 3,
    search: 2,
}
"""Shares of a hundred acts."""
PUBLISHED = 2
"""And the share of those that upload and publish a photo."""


async def join(port: int, people: int, *, names: str = "person") -> Site:
    """Sign people up over HTTP, named by a number behind a word; each uploads and publishes photos."""
    site = Site(port, {})
    numbers = iter(range(people))

    async def join_some() -> None:
        connection = await HttpConnection.open(port)
        for number in numbers:
            body = json.dumps({"username": f"{names}{number}", "password": PASSWORD}).encode()
            made = json.loads(await connection.send(Call("POST", "/api/v1/accounts", "", body)))
            site.tokens.append(made["token"])
            site.accounts.append(made["account"]["account_id"])
            site.usernames.append(made["account"]["username"])
            for _ in range(POSTS_EACH):
                await publish(connection, site, made["token"])
        connection.close()

    await asyncio.gather(*(join_some() for _ in range(JOINING_AT_ONCE)))
    return site


async def publish(connection: HttpConnection, site: Site, token: str) -> None:
    """Upload a photo and publish it; others see it from then on."""
    uploaded = json.loads(await connection.send(_upload(token)))
    body = json.dumps({"media_ids": [uploaded["media_id"]], "caption": "a new post"}).encode()
    site.posts.append(
        json.loads(await connection.send(Call("POST", "/api/v1/posts", token, body)))["post_id"]
    )


async def use_site(site: Site, counted: Counted, *, pause_s: float) -> None:
    """Have everybody use the site until cancelled, with pauses of this length on average."""
    numbers = itertools.count()  # of all requests: nobody writes the same comment twice
    await asyncio.gather(
        *(
            _use(_as_seen_by(site, number), random.Random(number), numbers, counted, pause_s)
            for number in range(len(site.tokens))
        )
    )


def _as_seen_by(site: Site, number: int) -> Site:
    """The site for one person: their session alone, and their own account first, which they do not follow."""
    own = site.accounts[number]
    others = [account for account in site.accounts if account != own]
    return replace(site, tokens=[site.tokens[number]], accounts=[own, *others])


async def _use(
    site: Site, chance: random.Random, numbers: Iterator[int], counted: Counted, pause_s: float
) -> None:
    connection: HttpConnection | None = None
    try:
        for number in numbers:
            await asyncio.sleep(chance.expovariate(1 / pause_s))
            try:
                connection = connection or await HttpConnection.open(site.port)
                await _act(connection, site, chance, number, counted)
            except UnexpectedStatus as error:
                counted.errors.append(str(error))
            except LOST as error:
                counted.errors.append(f"the connection was lost: {type(error).__name__}")
                connection = None
    finally:
        if connection is not None:
            connection.close()


async def _act(
    connection: HttpConnection, site: Site, chance: random.Random, number: int, counted: Counted
) -> None:
    started = time.perf_counter()
    make = chance.choices([*MIX, None], [*MIX.values(), PUBLISHED])[0]
    if make is None:
        await publish(connection, site, site.tokens[0])
    else:
        await connection.send(make(site, chance, number))
    counted.took_s.append(time.perf_counter() - started)


def _upload(token: str) -> Call:
    head = (
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="photo.jpg"\r\n'
        f"Content-Type: image/jpeg\r\n\r\n"
    )
    body = head.encode() + _photo() + f"\r\n--{BOUNDARY}--\r\n".encode()
    return Call("POST", "/api/v1/media/upload", token, body, f"multipart/form-data; boundary={BOUNDARY}")


def _photo() -> bytes:
    """A small photo; each is another one."""
    colour = tuple(random.randrange(256) for _ in range(3))
    made = io.BytesIO()
    Image.new("RGB", (640, 640), colour).save(made, "JPEG")
    return made.getvalue()
