"""Output of commands: tables for people, JSON for programs."""

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, time
from typing import Any, cast

from rich.console import Console
from rich.table import Table

from shardwright.command_names import as_called

# Above this, JavaScript and jq round integers: larger ones are printed as strings.
_EXACT_IN_JSON = 2**53
_KILO = 1024.0


def print_json(value: Any) -> None:
    """Print any database value as JSON; integers that JSON readers would round become strings."""
    json.dump(to_json(value), sys.stdout, indent=2, ensure_ascii=False)
    sys.stdout.write("\n")


def to_json(value: Any) -> Any:
    """Convert the value to JSON types."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value if abs(value) <= _EXACT_IN_JSON else str(value)
    if value is None or isinstance(value, bool | float | str):
        return value
    if isinstance(value, Mapping):
        pairs = cast("Mapping[Any, Any]", value)
        return {str(name): to_json(each) for name, each in pairs.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [to_json(each) for each in cast("Iterable[Any]", value)]
    return value.isoformat() if isinstance(value, datetime | date | time) else format_value(value)


def print_table(columns: Sequence[str], rows: Iterable[Sequence[Any]], *, title: str | None = None) -> None:
    """Print a table; columns of numbers are right-aligned."""
    table = Table(title=title, title_justify="left", box=None, pad_edge=False, header_style="bold")
    found = [list(row) for row in rows]
    for position, name in enumerate(columns):
        is_number = bool(found) and all(isinstance(row[position], int | float) for row in found)
        table.add_column(name, justify="right" if is_number else "left", overflow="fold")
    for row in found:
        table.add_row(*(format_value(value) for value in row))
    make_console().print(table)


def make_console() -> Console:
    """Return a console that does not truncate output that is piped into another program."""
    return Console(highlight=False, markup=False, width=None if sys.stdout.isatty() else 200)


def print_message(text: str) -> None:
    """Print a message to stderr, so that piped output stays clean; commands in it are named as they were called."""
    Console(stderr=True, highlight=False, markup=False, soft_wrap=True).print(as_called(text))


def format_value(value: Any) -> str:
    """Format a value for a table cell."""
    if value is None:
        return "∅"
    if isinstance(value, datetime):
        return value.isoformat(sep=" ", timespec="milliseconds")
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, bytes):
        return f"\\x{value.hex()}"
    return str(value)


def format_size(size_bytes: int) -> str:
    """Format a size with the largest fitting unit."""
    size = float(size_bytes)
    for unit in ("B", "KB", "MB", "GB", "TB"):
        if size < _KILO or unit == "TB":
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= _KILO
    raise AssertionError  # unreachable: the last unit takes everything
