"""How far a piece of long work is, written up where other processes can read it, and who is doing it."""

from typing import Literal

import msgspec
from redis.asyncio import Redis

SILENCE_S = 60
"""Work that has said nothing for this long has died, and may be begun anew."""
KEPT_S = 3_600

WorkState = Literal["none", "running", "done", "failed"]


class Notice(msgspec.Struct, frozen=True):
    """What stands on the board."""

    state: WorkState = "none"
    stage: str = ""
    done: int = 0
    total: int = 0


class Board:
    """One notice about one kind of work."""

    def __init__(self, redis: Redis, namespace: str, name: str) -> None:
        self._redis, self._key = redis, f"{namespace}:board:{name}"

    async def claim(self) -> bool:
        """Whether the work is ours to begin: nobody does it now, and nobody has just done it."""
        return bool(await self._redis.set(self._key, _packed(Notice("running")), nx=True, ex=SILENCE_S))

    async def write(self, notice: Notice) -> None:
        """Say how far it is."""
        life_s = SILENCE_S if notice.state == "running" else KEPT_S
        await self._redis.set(self._key, _packed(notice), ex=life_s)

    async def read(self) -> Notice:
        """What was said last; nothing after a silence."""
        found = await self._redis.get(self._key)
        return Notice() if found is None else msgspec.json.decode(found, type=Notice)

    async def wipe(self) -> None:
        """The work may be begun again."""
        await self._redis.delete(self._key)


def _packed(notice: Notice) -> bytes:
    return msgspec.json.encode(notice)
