"""The dispatch functions that one router knows on one server: found or created when they are first needed."""

import logging
import math
import time
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

import asyncpg

from shardwright.errors import ServerUnavailable, SetupInvalid
from shardwright.routing.dispatch_functions import FunctionKey
from shardwright.routing.function_installer import FunctionInstaller, InstalledFunction
from shardwright.routing.queries import Query

if TYPE_CHECKING:
    from asyncpg import Connection

log = logging.getLogger(__name__)

LOOK_AGAIN_S = 10.0  # how often to look for a function that was not there, while its query runs without one


class ServerFunctions:
    """Installed functions by query and kind, and which ones are missing."""

    def __init__(self, server: str) -> None:
        self._server = server
        self.numbers: list[int] = []
        """The shards that the server owns; the first is the sample from which functions are created."""
        self.installed: dict[FunctionKey, InstalledFunction] = {}
        self._missing: dict[FunctionKey, float] = {}  # by when to look again
        self._outdated: set[Query] = set()
        self._wanted: set[FunctionKey] = set()  # by transactions, which cannot install them

    async def install(self, conn: "Connection", wanted: Iterable[FunctionKey]) -> None:
        """Install functions, as far as their tables exist in the first shard."""
        self.installed |= await FunctionInstaller(self.numbers[0]).install(conn, wanted)

    def get(self, wanted: FunctionKey) -> InstalledFunction | None:
        """The function, if it is installed; if not, `take_wanted` names it, to be installed in the background."""
        found = self.installed.get(wanted)
        if found is None:
            self._wanted.add(wanted)
        return found

    def take_wanted(self) -> list[FunctionKey]:
        """What was asked for and is not installed; empty where it was looked for a moment ago."""
        now = time.monotonic()
        wanted, self._wanted = self._wanted, set()
        return [key for key in wanted if key not in self.installed and not self._missing.get(key, 0.0) > now]

    async def install_wanted(self, conn: "Connection", wanted: FunctionKey) -> None:
        """Install one of `take_wanted`; what cannot be dispatched, such as DDL, is not tried again."""
        try:
            await self.find(conn, wanted, self.numbers[0])
        except (SetupInvalid, asyncpg.SyntaxOrAccessError, asyncpg.FeatureNotSupportedError) as error:
            log.info("query.not_dispatched: %s runs as it is written: %s", wanted.query.name, error)
            self._missing[wanted] = math.inf

    def discard(self, queries: Collection[Query]) -> None:
        """Look these queries' functions up again: they no longer fit, or were dropped."""
        self._outdated |= set(queries)
        self.installed = {key: value for key, value in self.installed.items() if key.query not in queries}

    async def find(self, conn: "Connection", wanted: FunctionKey, number: int) -> InstalledFunction | None:
        """The function, installed over the caller's own connection: waiting for a second one could deadlock.

        `number` is a shard that will be queried: the function is created from its columns if those of the first shard
        do not fit. None when there is no function that fits, and none can be created: the query then runs without one.
        """
        if not self.numbers:
            raise ServerUnavailable(f"server {self._server} holds no shards")
        if self._missing.get(wanted, 0.0) > time.monotonic():
            return None
        installer = FunctionInstaller(self.numbers[0])
        may_create = await installer.may_create(conn)
        found = (await installer.install(conn, [wanted])).get(wanted)
        if found is None and may_create and number != self.numbers[0]:
            # The first shard may be behind the one that is asked.
            found = (await FunctionInstaller(number).install(conn, [wanted])).get(wanted)
        if found is None and may_create and wanted.query not in self._outdated:
            found = await installer.find_older(conn, wanted)
        if found is not None and (found.is_exact or wanted.query not in self._outdated):
            self._missing.pop(wanted, None)
            self._outdated.discard(wanted.query)
            self.installed[wanted] = found
            return found
        self._note_missing(wanted, may_create=may_create)
        return None

    def _note_missing(self, wanted: FunctionKey, *, may_create: bool) -> None:
        if wanted not in self._missing:
            cure = (
                "it does not fit the tables of the shard asked"
                if may_create
                else "run `shardwright install` for its file, as the migrator"
            )
            log.warning(
                "query.not_installed: %s has no dispatch function on server %s and runs without one, slower: %s",
                wanted.query.name,
                self._server,
                cure,
            )
        self._missing[wanted] = time.monotonic() + LOOK_AGAIN_S
