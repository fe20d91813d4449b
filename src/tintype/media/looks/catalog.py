"""The catalog of looks as the API lists it, and their strips (lookup tables as PNG) by public name."""

import hashlib
from functools import cache, lru_cache

from tintype.media.looks.look_files import look_names, strip_path
from tintype.media.looks.models import Look
from tintype.media.looks.recipe import read_recipe

BASE_URL = "/api/v1/looks"
DIGEST_LENGTH = 12


@cache
def list_looks() -> tuple[Look, ...]:
    """All looks, in the order in which people see them."""
    recipes = sorted(((name, read_recipe(name)) for name in look_names()), key=lambda each: each[1].place)
    return tuple(
        Look(name, recipe.name, f"{BASE_URL}/{strip_file(name)}", recipe.vignette, recipe.grain)
        for name, recipe in recipes
    )


@cache
def strip_file(look: str) -> str:
    """The public file name of a strip: the look and a digest of the content."""
    return f"{look}-{hashlib.sha256(strip_path(look).read_bytes()).hexdigest()[:DIGEST_LENGTH]}.png"


@lru_cache(maxsize=64)
def find_strip(file_name: str) -> bytes | None:
    """The PNG with this public file name, or None; safe for any string."""
    look = file_name.rpartition("-")[0]
    if look not in look_names() or file_name != strip_file(look):
        return None
    return strip_path(look).read_bytes()
