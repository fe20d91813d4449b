"""The invented people and what they have photographed, read from `community.toml`."""

import tomllib
from functools import cache
from pathlib import Path

import msgspec

FILE = Path(__file__).with_name("community.toml")


class Photo(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One post to be: which scene, in what light and shape, and the words that go with it."""

    scene: str
    mood: str
    shape: str
    caption: str
    alt_text: str
    look: str | None = None
    place: str = ""


class Person(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Somebody who never lived."""

    username: str
    full_name: str
    fame: float
    bio: str = ""
    photos: tuple[Photo, ...] = ()


class Shot(msgspec.Struct, frozen=True):
    """A photo together with who took it."""

    username: str
    number: int
    photo: Photo

    @property
    def key(self) -> str:
        """What makes a repeated post the same post."""
        return f"demo-{self.number}"


class Remark(msgspec.Struct, frozen=True):
    """Something said under a photo, and perhaps what its author answers."""

    by: str
    shot: Shot
    text: str
    reply: str = ""


class Life(msgspec.Struct, frozen=True):
    """What has been lived so far."""

    faces: int
    comments: int
    stories: int


class Count(msgspec.Struct, frozen=True):
    """How many there are now, and how many of them are new."""

    total: int
    new: int


class Summary(msgspec.Struct, frozen=True):
    """What the community looks like after a run."""

    people: Count
    follows: Count
    posts: Count
    likes: Count
    skipped: list[str]
    """Usernames that belong to somebody else here."""


@cache
def all_people() -> tuple[Person, ...]:
    """Everybody, in the order they join."""
    return tuple(msgspec.convert(tomllib.loads(FILE.read_text(encoding="utf-8"))["people"], list[Person]))
