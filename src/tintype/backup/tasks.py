"""Concurrent tasks that fail as one: the first error is raised as it is, not inside an exception group."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager


@asynccontextmanager
async def task_group() -> AsyncGenerator[asyncio.TaskGroup]:
    """A task group whose first error is raised by itself: the command line shows it as a sentence."""
    try:
        async with asyncio.TaskGroup() as group:
            yield group
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from errors
