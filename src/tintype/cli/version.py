"""`tintype version`: which release this is."""

from tintype import __version__


def version() -> None:
    """Print the version."""
    print(__version__)
