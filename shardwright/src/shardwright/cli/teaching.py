"""Help that teaches: a command's docstring, with its examples left as they stand."""

import inspect
import re
from collections.abc import Callable

from rich.markup import escape


def teach(about: Callable[..., None] | str) -> str:
    """Return help in rich's markup: prose flows to the width of the terminal, indented examples keep their lines."""
    text = inspect.cleandoc(about if isinstance(about, str) else about.__doc__ or "")
    return "\n\n".join(_paragraph(each) for each in text.split("\n\n"))


def _paragraph(text: str) -> str:
    if text.startswith("    "):
        return "\n".join(f"  [cyan]{escape(line.strip())}[/]" for line in text.splitlines())
    return re.sub(r"`([^`]+)`", r"[bold]\1[/]", escape(text.replace("\n", " ")))
