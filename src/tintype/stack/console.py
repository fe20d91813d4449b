"""Log lines for people: the time, who speaks, in a colour of their own, and what they say."""

import zlib

from rich.console import Console
from rich.text import Text

from tintype.stack.logs import SUPERVISOR, Line

_WIDTH = 10
_COLOURS = ("cyan", "green", "magenta", "yellow", "blue", "bright_cyan", "bright_green", "bright_magenta")
_KNOWN = {"web": "green", "worker": "magenta", "redis": "red", "nats": "blue", "postgres-1": "cyan"}


def paint(line: Line) -> Text:
    """Return the line as it is shown."""
    if line.name == SUPERVISOR:
        colour = "bold yellow"
    else:
        colour = _KNOWN.get(line.name) or _COLOURS[zlib.crc32(line.name.encode()) % len(_COLOURS)]
    return Text.assemble(
        (f"{line.time.astimezone():%H:%M:%S} ", "dim"),
        (f"{line.name:<{_WIDTH}} ", colour),
        ("│ ", "dim"),
        Text.from_ansi(line.text),
    )


class Screen:
    """A terminal that shows lines, and that may go away without taking the supervisor along."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._is_there = True

    def show(self, line: Line) -> None:
        """Have the line on the screen, as long as there is one."""
        if not self._is_there:
            return
        try:
            self._console.print(paint(line), soft_wrap=True, highlight=False)
        except (
            OSError,
            SystemExit,
        ):  # `up | head`, or a terminal that was closed: rich would end the program
            self._is_there = False
