"""Two PostgreSQL servers, Valkey and NATS for one test run: `python -m tests.engines FOLDER LEADER_PID`.

Runs as a process of its own, because the engines' supervisor needs a main thread; ends by itself when the process
that leads the test run is gone, however that ended.
"""

import asyncio
import json
import os
import shutil
import sys
from pathlib import Path

from tintype.stack import Stack

WATCH_S = 0.5


async def serve(folder: Path, leader_pid: int) -> None:
    """Run the engines until the leader is gone or the stop file appears."""
    async with Stack(folder / "home", postgres_servers=2, engines_only=True, durable=False) as stack:
        found = stack.connections
        addresses = {
            "postgres": found.postgres,
            "redis": found.redis,
            "nats": found.nats,
            "home": str(found.home),
        }
        draft = folder / "addresses.draft"
        draft.write_text(json.dumps(addresses))
        draft.rename(folder / "addresses.json")
        while Path(f"/proc/{leader_pid}").exists() and not (folder / "stop").exists():  # noqa: ASYNC110, ASYNC240 - watches another process
            await asyncio.sleep(WATCH_S)


if __name__ == "__main__":
    os.setpgrp()
    run_folder, leader = Path(sys.argv[1]), int(sys.argv[2])
    asyncio.run(serve(run_folder, leader))
    if not (run_folder / "stop").exists():  # the leader was killed, and the folder may be in memory
        shutil.rmtree(run_folder, ignore_errors=True)
