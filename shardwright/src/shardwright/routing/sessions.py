"""Sessions: what one caller has written and read, so that no later read of theirs is older than that.

A session notes on which servers it wrote, and when. What position of the WAL that is gets asked only when it is needed:
by the next read that a replica could answer, or for the token. One question serves all sessions that wait.

Of a replica that it read it notes the *incarnation*: as long as that lasts, the replica only goes forward, so whatever
it answers next is not older, in whichever process. Only a session that has to go elsewhere needs a position: that of
the primary at that moment, which no replica is ahead of.
"""

import asyncio
import re
from contextvars import ContextVar
from dataclasses import dataclass
from time import monotonic
from types import TracebackType
from typing import TYPE_CHECKING, Self
from urllib.parse import quote, unquote

from shardwright.errors import ServerUnavailable
from shardwright.routing.wal_positions import INCARNATION_DIGITS, Position

if TYPE_CHECKING:
    from shardwright.routing.replica import Replica
    from shardwright.routing.replica_set import ReplicaSet
    from shardwright.routing.server_client import ServerClient

MAX_SERVERS = 24  # in a token, the ones used last
MAX_TOKEN = 2048
_TOKEN = re.compile(
    r"1\.([0-9a-f]{1,16})(\*?)"
    rf"((?:\.[A-Za-z0-9_%-]{{1,120}}~[0-9a-f]{{1,8}}~[0-9a-f]{{1,16}}(?:~[0-9a-f]{{{INCARNATION_DIGITS}}})?)*)",
    re.ASCII,
)

SESSION: "ContextVar[Session | None]" = ContextVar("shardwright_session", default=None)
"""The session whose block is around the call; None outside of one."""
_OUTER: "ContextVar[tuple[Session | None, ...]]" = ContextVar("shardwright_outer_sessions", default=())


@dataclass(slots=True)
class _Mark:
    """What a session knows about one server: a position that covers what it saw, and what it saw since."""

    position: Position | None = None
    primary_at: float | None = None
    incarnation: str = ""
    """Of the replica that it has read since; no other has been."""
    replica_at: float = 0.0
    """When that was, or later."""

    @property
    def is_resolved(self) -> bool:
        """Whether the position covers everything."""
        return self.primary_at is None and not self.incarnation


class Session:
    """One caller's writes and reads: `with session:` gathers those of the block, and of tasks it starts.

    `await session.token()` is a text that carries it to the next request, wherever that is served;
    `Session.parse(text)` continues it there.
    """

    def __init__(self) -> None:
        self._marks: dict[str, _Mark] = {}
        self.map_version = 0
        """The newest version of the shard map with which it wrote or read."""
        self.is_complete = True
        """Whether servers that it does not name are known not to have been used."""
        self.is_used = False
        """Whether it has written or read anything since it was made: its token is new then."""
        self._replicas: dict[str, ReplicaSet] = {}

    @classmethod
    def parse(cls, token: str | None) -> Self:
        """Continue the session of a token; without one (None or empty) it is a new session, which has seen nothing.

        What is no token makes a session of which nothing is known: primaries answer its first reads.
        """
        session = cls()
        if not token:
            return session
        found = _TOKEN.fullmatch(token) if len(token) <= MAX_TOKEN else None
        if found is None:
            session.is_complete = False
            return session
        session.map_version = int(found[1], 16)
        session.is_complete = not found[2]
        for entry in found[3].split(".")[1:]:
            name, timeline, lsn, *read = entry.split("~")
            position = Position(int(timeline, 16), int(lsn, 16))
            incarnation = read[0] if read else ""
            session._marks[unquote(name)] = _Mark(position, None, incarnation, monotonic())
        return session

    async def token(self) -> str:
        """The session as a text of letters, digits and `.~*_%-`, at most 2 kB; shorter with few servers.

        A server that does not answer is left out, and the token then says that it is incomplete.
        """
        marks = list(self._marks.items())
        written = [(name, mark) for name, mark in marks if mark.primary_at is not None]
        await asyncio.gather(*(self._resolve(mark, self._replicas[name]) for name, mark in written))
        known = [(name, mark) for name, mark in marks if mark.primary_at is None]
        kept = known[-MAX_SERVERS:]
        text = _text(self.map_version, kept, is_complete=self.is_complete and len(kept) == len(marks))
        while len(text) > MAX_TOKEN:
            kept = kept[1:]
            text = _text(self.map_version, kept, is_complete=False)
        return text

    def __enter__(self) -> Self:
        _OUTER.set((*_OUTER.get(), SESSION.get()))
        SESSION.set(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        *outer, last = _OUTER.get()
        _OUTER.set(tuple(outer))
        SESSION.set(last)

    def note_primary(self, server: str, replicas: "ReplicaSet") -> None:
        """The primary has answered, or may have committed something: later reads must not be older than now."""
        self._mark(server, replicas).primary_at = monotonic()

    def note_map(self, version: int) -> None:
        """A server without replicas was used by this map: who has an older one may take a shard's old server for it."""
        if version > self.map_version:
            self.map_version, self.is_used = version, True

    def note_replica(self, replica: "Replica", replicas: "ReplicaSet") -> None:
        """A replica has answered: later reads must not be older than what it showed."""
        mark = self._mark(replica.server, replicas)
        if mark.incarnation not in {"", replica.incarnation}:
            mark.primary_at = max(mark.primary_at or 0.0, mark.replica_at)  # its position was never asked for
        if mark.position is None:
            mark.position = Position(replicas.timeline, 0)
        mark.incarnation, mark.replica_at = replica.incarnation, monotonic()

    async def needs(
        self, server: str, replicas: "ReplicaSet"
    ) -> "tuple[bool, Position | None, Replica | None]":
        """Whether replicas may answer at all, the position that they need for it, and which one has it for sure."""
        mark = self._marks.get(server)
        if mark is None:
            return self.is_complete and self._knew(replicas), None, None
        if mark.primary_at is None and mark.incarnation:
            same = replicas.find(mark.incarnation)
            if same is not None:
                return True, mark.position, same
        await self._resolve(mark, replicas)
        return mark.is_resolved, mark.position, None

    def _knew(self, replicas: "ReplicaSet") -> bool:
        """Whether the session would have noted a write to the server: its replicas were known then."""
        return not self.map_version or self.map_version >= replicas.since_version

    def _mark(self, server: str, replicas: "ReplicaSet") -> _Mark:
        self.is_used = True
        self._replicas[server] = replicas
        mark = self._marks.pop(server, None) or _Mark()
        self._marks[server] = mark  # last: the order of use
        self.map_version = max(self.map_version, replicas.map_version)
        return mark

    async def _resolve(self, mark: _Mark, replicas: "ReplicaSet") -> None:
        """Ask the primary for a position that covers everything seen on the server, if it was not asked for since."""
        if mark.is_resolved:
            return
        primary_at, replica_at = mark.primary_at, mark.replica_at
        try:
            found = await replicas.flushed(max(primary_at or 0.0, replica_at))
        except ServerUnavailable:
            return
        known = mark.position
        if known is None or known.timeline != found.position.timeline or known < found.position:
            mark.position = found.position
        if mark.primary_at == primary_at:
            mark.primary_at = None
        if mark.replica_at == replica_at:
            mark.incarnation = ""


def note_primary(server: "ServerClient") -> None:
    """Let the session around the call, if any, know that the primary of this server was used."""
    session = SESSION.get()
    if session is None:
        return
    if server.replicas is not None:
        session.note_primary(server.server.name, server.replicas)
    else:
        session.note_map(server.replicated_map_version)


def _text(version: int, marks: "list[tuple[str, _Mark]]", *, is_complete: bool) -> str:
    shown = [_entry(name, mark) for name, mark in marks]
    return ".".join([f"1.{version:x}{'' if is_complete else '*'}", *shown])


def _entry(name: str, mark: _Mark) -> str:
    position = mark.position or Position(0, 0)
    parts = [
        quote(name, safe="").replace(".", "%2E").replace("~", "%7E"),
        f"{position.timeline:x}",
        f"{position.lsn:x}",
    ]
    return "~".join([*parts, mark.incarnation] if mark.incarnation else parts)
