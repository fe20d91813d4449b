"""Scripts that run inside Redis, where nothing can come between two steps: called by their hash, over the wire."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from redis.exceptions import ResponseError

from tintype.base.wire import Command, Wire


@dataclass(frozen=True)
class Script:
    """A script, called by the hash that Redis knows it by."""

    text: str
    sha: str

    @classmethod
    def of(cls, text: str) -> "Script":
        """A script from its text."""
        return cls(text, hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest())

    def call(self, keys: Sequence[str], *args: str | int | bytes) -> Command:
        """The command that runs it."""
        return ("EVALSHA", self.sha, len(keys), *keys, *args)


async def run(wire: Wire, script: Script, *calls: Command) -> list[Any]:
    """Run a script some times in one round trip; a Redis that does not know it learns it first."""
    if not calls:
        return []
    try:
        return await wire.ask(*calls)
    except ResponseError as error:
        if "script" not in str(error).lower():
            raise
    await wire.ask(("SCRIPT", "LOAD", script.text))
    return await wire.ask(*calls)
