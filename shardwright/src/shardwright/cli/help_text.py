"""Formats a command's docstring as help text, with its examples verbatim."""

import inspect
import re
from collections.abc import Callable

from rich.markup import escape


def format_help(about: Callable[..., None] | str) -> str:
    """Return help in rich's markup: prose is wrapped to the terminal's width, indented examples keep their lines."""
    text = inspect.cleandoc(about if isinstance(about, str) else about.__doc__ or "")
    return "\n\n".join(_paragraph(each) for each in text.split("\n\n"))


def _paragraph(text: str) -> str:
    if text.startswith("    "):
        return "\n".join(f"[cyan]  {escape(line.strip())}[/]" for line in text.splitlines())
    return re.sub(r"`([^`]+)`", r"[bold]\1[/]", escape(text.replace("\n", " ")))
