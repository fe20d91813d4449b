"""Log lines on the terminal: the time, the program in its own colour, and the text."""

import zlib

from rich.console import Console
from rich.text import Text

from tintype.stack.logs import SUPERVISOR, Line

_WIDTH = 10
_COLOURS = ("cyan", "green", "magenta", "yellow", "blue", "bright_cyan", "bright_green", "bright_magenta")
_KNOWN = {"web": "green", "worker": "magenta", "redis": "red", "nats": "blue", "postgres-1": "cyan"}


def format_line(line: Line) -> Text:
    """Return the line as the terminal shows it: time, program in its colour, text."""
    if line.name == SUPERVISOR:
        colour = "bold yellow"
    else:
        colour = _KNOWN.get(line.name) or _COLOURS[zlib.crc32(line.name.encode()) % len(_COLOURS)]
    return Text.assemble(
        (f"{line.time.astimezone():%H:%M:%S} ", "dim"),
        (f"{line.name:<{_WIDTH}} ", colour),
        ("│ ", "dim"),
        line.text,
    )


class LogConsole:
    """Prints log lines to the terminal; a terminal that is closed does not stop the supervisor."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._is_open = True

    def show(self, line: Line) -> None:
        """Print the line, unless the terminal is gone."""
        if not self._is_open:
            return
        try:
            self._console.print(format_line(line), soft_wrap=True, highlight=False)
        except (
            OSError,
            SystemExit,
        ):  # `up | head`, or a terminal that was closed: rich would end the program
            self._is_open = False
