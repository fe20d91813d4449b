"""Fills docs/capacity.md with what `tintype plan` prints, so that page and command cannot differ.

A block begins with a comment that holds the command, and ends with another; what stands between them is made anew.
"""

import re
import shlex

from typer.testing import CliRunner

from develop.steps import CHECKOUT
from tintype.cli.entry import build_app

PAGE = CHECKOUT / "docs" / "capacity.md"
_BLOCK = re.compile(r"(<!-- made by: tintype (?P<command>[^>]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def render_capacity() -> str:
    """The page with each of its blocks as the command prints it now."""
    return _BLOCK.sub(_make, PAGE.read_text())


def _make(block: re.Match[str]) -> str:
    printed = CliRunner().invoke(build_app(["plan"]), shlex.split(block["command"]), catch_exceptions=False)
    return f"{block[1]}\n{printed.output.strip()}\n\n{block[3]}"
