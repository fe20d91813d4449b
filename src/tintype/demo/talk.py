"""What the invented people say, show and where they were, read from `talk.toml`."""

import tomllib
from functools import cache
from pathlib import Path

import msgspec

FILE = Path(__file__).with_name("talk.toml")


class Talk(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Words by what they are about."""

    comments: dict[str, tuple[str, ...]]
    """By scene."""
    replies: dict[str, tuple[str, ...]]
    stories: dict[str, str]
    """By mood."""
    places: dict[str, tuple[float, float]]
    """Latitude and longitude by name."""


@cache
def all_talk() -> Talk:
    """Everything there is to say."""
    return msgspec.convert(tomllib.loads(FILE.read_text(encoding="utf-8")), Talk)
