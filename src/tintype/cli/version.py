"""`tintype version`: prints the version."""

from tintype import __version__


def version() -> None:
    """Print the version."""
    print(__version__)
