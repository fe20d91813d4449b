"""The files of the looks: one recipe and one strip each, under one name."""

import re
from functools import cache
from pathlib import Path

HERE = Path(__file__).parent
RECIPES = HERE / "recipes"
STRIPS = HERE / "strips"
NAME = re.compile(r"[a-z]+(-[a-z]+)*")


@cache
def look_names() -> frozenset[str]:
    """The ids of all looks."""
    return frozenset(file.stem for file in RECIPES.glob("*.toml"))


def is_look(name: str) -> bool:
    """Whether there is a look of that name; safe for any string."""
    return NAME.fullmatch(name) is not None and name in look_names()


def strip_path(look: str) -> Path:
    """The path of the strip of an existing look."""
    return STRIPS / f"{look}.png"
