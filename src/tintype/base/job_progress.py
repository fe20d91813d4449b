"""Progress of a long-running job in Redis, so that other processes can show it and only one of them runs the job."""

from typing import Literal

import msgspec
from redis.asyncio import Redis

HEARTBEAT_TTL_S = 60
"""A job that has reported nothing for this long has died, and may be started again."""
RESULT_TTL_S = 3_600

JobState = Literal["none", "running", "done", "failed"]


class JobProgress(msgspec.Struct, frozen=True):
    """How far a job is: `done` of `total` steps of its current stage."""

    state: JobState = "none"
    stage: str = ""
    done: int = 0
    total: int = 0


class JobProgressStore:
    """The progress of one kind of job, of which at most one runs at a time."""

    def __init__(self, redis: Redis, namespace: str, name: str) -> None:
        self._redis, self._key = redis, f"{namespace}:board:{name}"

    async def claim(self) -> bool:
        """Become the one who runs the job; False while it is running, or has just ended."""
        running = msgspec.json.encode(JobProgress("running"))
        return bool(await self._redis.set(self._key, running, nx=True, ex=HEARTBEAT_TTL_S))

    async def write(self, progress: JobProgress) -> None:
        """Store the progress; while the job runs this is also its heartbeat."""
        ttl_s = HEARTBEAT_TTL_S if progress.state == "running" else RESULT_TTL_S
        await self._redis.set(self._key, msgspec.json.encode(progress), ex=ttl_s)

    async def read(self) -> JobProgress:
        """The last stored progress; the state "none" when there is none or the job has died."""
        found = await self._redis.get(self._key)
        return JobProgress() if found is None else msgspec.json.decode(found, type=JobProgress)

    async def clear(self) -> None:
        """Delete the progress: the job may be claimed again."""
        await self._redis.delete(self._key)
