"""The requests of `bench social`, `social-growth` and `soak`: targets are Zipf-distributed, the same each time."""

import json
import random
from collections.abc import Callable

from bench.http_load import Call
from bench.social_sites import Site

SKEW = 1.1
MakeCall = Callable[[Site, random.Random, int], Call]


def popular(chance: random.Random, count: int) -> int:
    """An index into a list, Zipf-distributed: the first ones far more often."""
    return min(int(count ** chance.random() ** SKEW) - 1, count - 1)


def like(site: Site, chance: random.Random, _: int) -> Call:
    """Somebody likes a popular post."""
    post = site.posts[popular(chance, len(site.posts))]
    return Call("PUT", f"/api/v1/posts/{post}/like", chance.choice(site.tokens))


def comment(site: Site, chance: random.Random, number: int) -> Call:
    """Somebody comments on a popular post."""
    post = site.posts[popular(chance, len(site.posts))]
    body = json.dumps({"text": f"words for number {number}"}).encode()
    return Call("POST", f"/api/v1/posts/{post}/comments", site.tokens[number % len(site.tokens)], body)


def follow(site: Site, chance: random.Random, _: int) -> Call:
    """Somebody follows a popular account, not themselves."""
    me = chance.randrange(len(site.tokens))
    other = popular(chance, len(site.accounts))
    other = other if other != me else (other + 1) % len(site.accounts)
    return Call("PUT", f"/api/v1/accounts/{site.accounts[other]}/follow", site.tokens[me])


def profile(site: Site, chance: random.Random, _: int) -> Call:
    """Somebody looks at a popular profile."""
    name = site.usernames[popular(chance, len(site.usernames))]
    return Call("GET", f"/api/v1/profiles/{name}", chance.choice(site.tokens))


def post(site: Site, _chance: random.Random, number: int) -> Call:
    """Somebody posts one of their photos."""
    me = number % len(site.tokens)
    body = json.dumps({"media_ids": [site.media[me].pop()], "caption": "a new post"}).encode()
    return Call("POST", "/api/v1/posts", site.tokens[me], body)


OPERATIONS: dict[str, MakeCall] = {
    "like": like,
    "follow": follow,
    "comment": comment,
    "post": post,
    "profile": profile,
}


def make_calls(operation: str, site: Site, count: int, number: int) -> list[Call]:
    """The calls of one round; a round has the same ones for every contender."""
    chance = random.Random(number)
    return [OPERATIONS[operation](site, chance, number * count + each) for each in range(count)]
