"""Runs a command's coroutine and turns expected errors into a message and an exit code.

0: success. 1: failure or findings. 2: wrong arguments (typer's own).
"""

import asyncio
from collections.abc import AsyncGenerator, Coroutine
from contextlib import asynccontextmanager
from typing import Any, NoReturn, TypeVar, cast

import asyncpg
import typer
from rich.console import Console

from shardwright.cli.settings import get_directory, host_settings
from shardwright.command_names import as_called
from shardwright.errors import ShardwrightError
from shardwright.topology import Directory

T = TypeVar("T")
EXIT_FAILED = 1
EXPECTED = (ShardwrightError, asyncpg.PostgresError, asyncpg.InterfaceError, OSError, TimeoutError)
"""Errors that a command reports as a message: whatever else is raised is a bug of the program."""


def run(work: Coroutine[Any, Any, T]) -> T:
    """Return the work's result; an expected error exits with a message instead of a traceback."""
    try:
        return asyncio.run(work)
    except EXPECTED as error:
        fail(error)
    except BaseExceptionGroup as group:
        expected, rest = group.split(EXPECTED)
        if rest is not None or expected is None:
            raise
        fail(_first(expected))


def fail(error: BaseException) -> NoReturn:
    """Print the error to stderr and exit with 1."""
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    console.print("[bold red]error:[/]", end=" ")
    console.print(as_called(str(error)) or type(error).__name__, markup=False)
    hint = getattr(error, "hint", None)
    if hint:
        console.print(as_called(f"hint: {hint}"), markup=False)
    raise typer.Exit(EXIT_FAILED)


@asynccontextmanager
async def open_directory(context: typer.Context, option: str | None) -> AsyncGenerator[Directory]:
    """The command's directory, open for the duration of the block."""
    directory = await Directory.open(get_directory(context, option), dsns=host_settings(context).dsns)
    try:
        yield directory
    finally:
        await directory.close()


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    first = group.exceptions[0]
    return (
        _first(cast("BaseExceptionGroup[BaseException]", first))
        if isinstance(first, BaseExceptionGroup)
        else first
    )
