"""All rooms for a benchmark, on servers that it starts itself."""

import contextlib
import os
import tempfile
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

from tintype.base.log import set_up_log
from tintype.base.settings import Settings
from tintype.schema import apply_schema
from tintype.stack import Stack
from tintype.wiring import Rooms, open_rooms


@contextlib.asynccontextmanager
async def open_bench_rooms(*, servers: int = 2, **choices: Any) -> AsyncGenerator[Rooms]:
    """Open the rooms on separate servers, which are stopped afterwards; `choices` are settings."""
    folder = Path(tempfile.mkdtemp(prefix="tintype-bench-"))
    os.chmod(folder, 0o711)  # noqa: PTH101, S103 - the servers' account must traverse it
    async with Stack(folder / "home", postgres_servers=servers, engines_only=True, durable=False) as stack:
        found = stack.connections
        settings = Settings(
            home=found.home,
            postgres=found.postgres,
            redis=found.redis,
            nats=found.nats,
            log_level="error",
            **choices,
        )
        set_up_log(settings, process="bench")
        await apply_schema(settings)
        async with open_rooms(settings, process="bench") as rooms:
            yield rooms
