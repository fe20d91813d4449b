"""Lua scripts that run atomically inside Redis, called by their hash (EVALSHA)."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from redis.exceptions import ResponseError

from tintype.redis.client import Command, RedisClient


@dataclass(frozen=True)
class Script:
    """A Lua script and the hash that Redis knows it by."""

    text: str
    sha: str

    @classmethod
    def of(cls, text: str) -> "Script":
        """A script from its text."""
        return cls(text, hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest())

    def call(self, keys: Sequence[str], *args: str | int | bytes) -> Command:
        """The command that runs the script with these keys and arguments."""
        return ("EVALSHA", self.sha, len(keys), *keys, *args)


async def run(redis_client: RedisClient, script: Script, *calls: Command) -> list[Any]:
    """Run some calls of a script in one round trip; a Redis that does not have the script loads it first."""
    if not calls:
        return []
    try:
        return await redis_client.execute(*calls)
    except ResponseError as error:
        if "script" not in str(error).lower():
            raise
    await redis_client.execute(("SCRIPT", "LOAD", script.text))
    return await redis_client.execute(*calls)
