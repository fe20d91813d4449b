"""What each author shows, remembered in Redis, also where that is nothing, as with most it is.

A tray asks it of everybody one follows, thousands of authors at once, so this is the room's own and not a kind of
object in the common cache: nothing costs a byte that is compared and passed over, and what is missing is marked, loaded
and stored some hundreds at a time. The rule is the same: a miss leaves a lease, what was loaded is stored only where
that very lease still stands, and forgetting removes leases too. So what is forgotten after a commit is loaded anew
after that commit. Redis may be empty or away at any time. What was read stays near until Redis says that it has
changed (`base/near.py`).
"""

import random
import secrets
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import closing

import msgspec
from redis.exceptions import RedisError

from tintype.base.bringing import Bringing
from tintype.base.errands import Errands
from tintype.base.ids import AccountId
from tintype.base.log import get_log
from tintype.base.near import Shelf
from tintype.base.scripts import Script, run
from tintype.base.wire import Wire

log = get_log("stories")
Shown = tuple[tuple[int, bool], ...]
"""Stories, oldest first, each with whether it is for close friends."""
Load = Callable[[Sequence[AccountId]], Awaitable[Mapping[AccountId, Shown]]]
"""What authors show, also where that is nothing; who is missing could not be asked."""
REDIS_AWAY = (RedisError, OSError)
NOTHING = b"-"
LEASE_MARK = b"?"
LEASE_MS = 5_000
KEEP_S = 12 * 3_600
"""For half a day, and up to as long again by chance, so that what was loaded together is not missed together."""
KEYS_AT_ONCE = 1_000
"""Reading a thousand keys takes Redis well under a millisecond."""
KEYS_PER_SCRIPT = 200
MOST_NEAR = 50_000

_LEASE = Script.of("""
for _, key in ipairs(KEYS) do redis.call('SET', key, ARGV[1], 'NX', 'PX', ARGV[2]) end
return 0
""")
_FILL = Script.of("""
for place, key in ipairs(KEYS) do
  if redis.call('GET', key) == ARGV[1] then redis.call('SET', key, ARGV[place + 2], 'EX', ARGV[2]) end
end
return 0
""")


class Rings:
    """What authors show."""

    def __init__(self, wire: Wire, namespace: str, load: Load) -> None:
        self._wire, self._prefix, self._load = wire, f"{namespace}:ring:", load
        self._shelf: Shelf[int, Shown] = wire.near.shelf(self._prefix, int, MOST_NEAR)
        self._errands = Errands()

    async def find(self, authors: Sequence[AccountId]) -> dict[AccountId, Shown]:
        """Those of the authors who showed something when it was last looked up, which may have ended since."""
        try:
            found, missing = await self._read(authors)
        except REDIS_AWAY as error:
            log.warning("rings.unavailable", error=str(error))
            return _those_who_show(await self._load(authors))
        return found | _those_who_show(await self._load_and_keep(missing)) if missing else found

    async def forget(self, *authors: AccountId) -> None:
        """Look these up anew from now on. Call it after the commit; the event makes good what is lost here."""
        try:
            await self.drop(*authors)
        except REDIS_AWAY as error:
            log.warning("rings.unavailable", error=str(error))

    async def drop(self, *authors: AccountId) -> None:
        """The same, or an error, for a job that is repeated until Redis has heard of it."""
        if authors:
            await self._wire.ask(("DEL", *self._keys(authors)))

    async def settle(self) -> None:
        """What was loaded is stored, or given up."""
        await self._errands.settle()

    async def _read(self, authors: Sequence[AccountId]) -> tuple[dict[AccountId, Shown], list[AccountId]]:
        """Those who show something as far as Redis knows, and those of whom it does not."""
        near = self._shelf.here
        with closing(Bringing(self._wire)) as bringing:
            asked = self._ask([each for each in authors if each not in near], bringing)
            answers = await bringing.ask()
            # What went while it was asked has changed just now, and is loaded like what nobody knows.
            found = {each: near.get(each) for each in authors}
            for some, values in zip(asked, answers, strict=True):
                for author, value in zip(some, values, strict=True):
                    found[author] = shown = _decode(value)
                    if shown is not None:
                        bringing.keep(self._shelf, author, shown)
        missing = [each for each, shown in found.items() if shown is None]
        return {each: shown for each, shown in found.items() if shown}, missing

    def _ask(self, authors: Sequence[AccountId], bringing: Bringing) -> list[Sequence[AccountId]]:
        asked = list(_parts(authors, KEYS_AT_ONCE))
        for some in asked:
            bringing.add(("MGET", *self._keys(some)), self._shelf, some)
        return asked

    async def _load_and_keep(self, authors: Sequence[AccountId]) -> Mapping[AccountId, Shown]:
        lease = LEASE_MARK + secrets.token_bytes(8)
        try:
            await run(
                self._wire,
                _LEASE,
                *(_LEASE.call(self._keys(some), lease, LEASE_MS) for some in _parts(authors)),
            )
        except REDIS_AWAY as error:
            log.warning("rings.unavailable", error=str(error))
            return await self._load(authors)
        loaded = await self._load(authors)
        self._errands.start(lambda: self._keep(loaded, lease))
        return loaded

    async def _keep(self, loaded: Mapping[AccountId, Shown], lease: bytes) -> None:
        keep_s = KEEP_S + random.randrange(KEEP_S)  # noqa: S311 - spread, not a secret
        calls = [
            _FILL.call(self._keys(some), lease, keep_s, *(_encode(loaded[each]) for each in some))
            for some in _parts(list(loaded))
        ]
        try:
            await run(self._wire, _FILL, *calls)
        except REDIS_AWAY as error:
            log.warning("rings.unavailable", error=str(error))

    def _keys(self, authors: Iterable[AccountId]) -> list[str]:
        prefix = self._prefix
        return [f"{prefix}{each}" for each in authors]


def _parts(authors: Sequence[AccountId], size: int = KEYS_PER_SCRIPT) -> Iterable[Sequence[AccountId]]:
    return (authors[start : start + size] for start in range(0, len(authors), size))


def _encode(shown: Shown) -> bytes:
    return msgspec.msgpack.encode(shown) if shown else NOTHING


def _decode(value: bytes | None) -> Shown | None:
    """What is remembered; None where nothing is, or somebody is about to find out."""
    if value is None or value[:1] == LEASE_MARK:
        return None
    return () if value == NOTHING else msgspec.msgpack.decode(value, type=Shown)


def _those_who_show(loaded: Mapping[AccountId, Shown]) -> dict[AccountId, Shown]:
    return {author: own for author, own in loaded.items() if own}
