"""The demo people and their photos, read from `community.toml`."""

import tomllib
from collections.abc import Callable
from functools import cache
from pathlib import Path

import msgspec

ReportProgress = Callable[[str, int, int], None]
"""Called with the stage, how many of its steps are done, and how many there are."""
FILE = Path(__file__).with_name("community.toml")


class Photo(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A photo to post: its scene, mood and shape for the renderer, and its texts."""

    scene: str
    mood: str
    shape: str
    caption: str
    alt_text: str
    look: str | None = None
    place: str = ""


class Person(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One of the demo people. `fame` is how likely others follow them."""

    username: str
    full_name: str
    fame: float
    bio: str = ""
    photos: tuple[Photo, ...] = ()


class PlannedPhoto(msgspec.Struct, frozen=True):
    """A photo and who posts it."""

    username: str
    number: int
    photo: Photo

    @property
    def key(self) -> str:
        """The idempotency key of its post."""
        return f"demo-{self.number}"


class PlannedComment(msgspec.Struct, frozen=True):
    """A comment under a photo, and the reply of the photo's author, which may be empty."""

    by: str
    under: PlannedPhoto
    text: str
    reply: str = ""


class ActivitySummary(msgspec.Struct, frozen=True):
    """How many avatars, comments and stories there are."""

    faces: int
    comments: int
    stories: int


class Count(msgspec.Struct, frozen=True):
    """How many there are now, and how many of them are new."""

    total: int
    new: int


class Summary(msgspec.Struct, frozen=True):
    """How large the community is after a run."""

    people: Count
    follows: Count
    posts: Count
    likes: Count
    skipped: list[str]
    """Usernames that belong to somebody else here."""


@cache
def load_people() -> tuple[Person, ...]:
    """All demo people, in the order they sign up."""
    return tuple(msgspec.convert(tomllib.loads(FILE.read_text(encoding="utf-8"))["people"], list[Person]))
