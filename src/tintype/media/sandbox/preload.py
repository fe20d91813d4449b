"""Loads ahead what libraries otherwise load when they first need it: inside the walls nothing can be loaded."""

import codecs
import contextlib
import importlib
import pkgutil

ENCODINGS = (
    "ascii",
    "latin-1",
    "utf-8",
    "utf-8-sig",
    "utf-16",
    "utf-16-le",
    "utf-16-be",
    "utf-32",
    "cp1252",
    "mac-roman",
)
"""Of texts in photos and videos."""


def load_modules(*names: str) -> None:
    """Import modules that a library finds by name, such as its plugins."""
    for name in names:
        importlib.import_module(name)


def load_package(name: str) -> None:
    """Import a package with every module in it, but for those that need something this machine lacks."""
    package = importlib.import_module(name)
    for module in pkgutil.walk_packages(package.__path__, f"{name}."):
        if not module.name.endswith("__main__"):
            with contextlib.suppress(ImportError):
                importlib.import_module(module.name)


def load_encodings() -> None:
    """Make the encodings known that texts in media are written in."""
    for name in ENCODINGS:
        codecs.lookup(name)
