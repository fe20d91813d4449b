"""Texts of the demo people: comments, replies and stories, and the coordinates of places, read from `texts.toml`."""

import tomllib
from functools import cache
from pathlib import Path

import msgspec

FILE = Path(__file__).with_name("texts.toml")


class Texts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Texts by what they are about, and coordinates of places."""

    comments: dict[str, tuple[str, ...]]
    """By scene."""
    replies: dict[str, tuple[str, ...]]
    stories: dict[str, str]
    """By mood."""
    places: dict[str, tuple[float, float]]
    """Latitude and longitude by name."""


@cache
def load_texts() -> Texts:
    """All texts."""
    return msgspec.convert(tomllib.loads(FILE.read_text(encoding="utf-8")), Texts)
