"""Plans which shards to move: to even servers out by their weights, to empty one, or to halve one. No I/O.

A shard counts as its share of all bytes and of all load, so that sizes and rates can be added. Ids carry the number
of their shard, so a shard moves as a whole, and what is split is a server: half of its shards go to another.
"""

from bisect import bisect_left
from collections.abc import Collection, Sequence

from shardwright.errors import SetupInvalid
from shardwright.rebalancing.models import Basis, Limits, Plan, Relocation, ShardUse
from shardwright.topology import ShardMap

DEFAULT_TOLERANCE = 0.05
"""Servers this close to their share are left as they are."""
QUIET_ROWS_PER_S = 1_000.0
"""Below this, of all servers together, load does not count beside size: who happens to be polled says nothing."""
NO_LIMITS = Limits()
_NOTHING = 1e-12


def plan_rebalance(
    shard_map: ShardMap,
    uses: Sequence[ShardUse],
    *,
    basis: Basis = "both",
    limits: Limits = NO_LIMITS,
    tolerance: float = DEFAULT_TOLERANCE,
    moving: Collection[int] = (),
) -> Plan:
    """Bring every server that accepts shards towards its share by weight, with few moves.

    Each move goes from the server furthest above its share to the one furthest below, and brings both closer. Servers
    that accept no new shards neither give nor take; shards that are being moved stay where they are.
    """
    draft = _Draft(shard_map, uses, basis, limits, moving)
    while (found := draft.best_relocation(tolerance)) is not None:
        draft.relocate(*found)
    return draft.plan()


def plan_drain(
    shard_map: ShardMap,
    uses: Sequence[ShardUse],
    server: str,
    *,
    basis: Basis = "both",
    limits: Limits = NO_LIMITS,
    moving: Collection[int] = (),
) -> Plan:
    """Move every shard off a server, each to the one that is furthest below its share by then."""
    shard_map.get_server(server)
    draft = _Draft(shard_map, uses, basis, limits, moving, leave_out=server)
    if not draft.shares:
        raise SetupInvalid(f"no server but {server} accepts shards: add one, or let one accept them again")
    for use in draft.movable(server):
        draft.relocate_to_lowest(use)
    return draft.plan()


def plan_split(
    shard_map: ShardMap,
    uses: Sequence[ShardUse],
    server: str,
    target: str,
    *,
    basis: Basis = "both",
    limits: Limits = NO_LIMITS,
    moving: Collection[int] = (),
) -> Plan:
    """Move half of a server's shards to another server, so that both halves are alike."""
    shard_map.get_server(server)
    shard_map.get_server(target)
    if server == target:
        raise SetupInvalid(f"server {server} cannot be split onto itself: name another one")
    draft = _Draft(shard_map, uses, basis, limits, moving)
    kept, given = 0.0, 0.0
    for use in draft.movable(server):  # the largest first, each to the smaller half
        if kept <= given:
            kept += draft.score(use)
        elif draft.has_room(use, target):
            given += draft.score(use)
            draft.relocate(use, target)
    return draft.plan()


class _Draft:
    """A plan in the making: scores of shards, what servers hold by now, and what is left of the limits."""

    def __init__(  # noqa: PLR0917 - all that a plan depends on
        self,
        shard_map: ShardMap,
        uses: Sequence[ShardUse],
        basis: Basis,
        limits: Limits,
        moving: Collection[int],
        leave_out: str | None = None,
    ) -> None:
        self._map, self._uses = shard_map, uses
        is_quiet = basis == "both" and 0 < sum(use.rows_per_s for use in uses) < QUIET_ROWS_PER_S
        self._scores = _scores(uses, "size" if is_quiet else basis)
        self._limits = limits
        self._left: dict[str, list[ShardUse]] = {name: [] for name in shard_map.servers}
        for use in sorted(uses, key=self._order):
            if use.number not in moving:
                self._left[use.server].append(use)
        self._size_bytes = 0
        self._taken = dict.fromkeys(shard_map.servers, 0)
        self._relocations: list[Relocation] = []
        self._refused: list[str] = []
        if is_quiet:
            self._refused.append(
                "there is hardly any load, so only sizes count; `--by load` counts it all the same"
            )
        if busy := [use for use in uses if use.number in moving and use.server == (leave_out or use.server)]:
            what = "are being moved, or can still be moved back"
            self._refused.append(f"{len(busy)} shards {what}: see `shardwright move status`")
        weights = {
            server.name: server.weight
            for server in shard_map.servers.values()
            if server.accepts_new and server.weight > 0 and server.name != leave_out
        }
        self._held = dict.fromkeys(shard_map.servers, 0.0)
        for use in uses:
            self._held[use.server] += self.score(use)
        total = sum(self._held[name] for name in weights) + (self._held[leave_out] if leave_out else 0.0)
        self.shares = {name: total * weight / sum(weights.values()) for name, weight in weights.items()}

    def score(self, use: ShardUse) -> float:
        """The shard's part of everything that shards use."""
        return self._scores[use.number]

    def movable(self, server: str) -> list[ShardUse]:
        """The server's shards that may move, the largest first."""
        return self._left[server][::-1]

    def has_room(self, use: ShardUse, target: str) -> bool:
        """Whether limits allow this shard to move there; if not, the plan says why."""
        if self._limits.shards is not None and len(self._relocations) >= self._limits.shards:
            return self._refuse(f"no more than {self._limits.shards} shards")
        if (
            self._limits.size_bytes is not None
            and self._size_bytes + use.size_bytes > self._limits.size_bytes
        ):
            return self._refuse("not all fits into the limit of bytes")
        room = self._limits.room_bytes.get(target)
        if room is not None and self._taken[target] + use.size_bytes > room:
            return self._refuse(f"server {target} has no room for more")
        return True

    def relocate(self, use: ShardUse, target: str) -> None:
        """Add a move to the plan."""
        self._relocations.append(Relocation(use.number, use.server, target, use.size_bytes))
        self._left[use.server].remove(use)
        self._size_bytes += use.size_bytes
        self._taken[target] += use.size_bytes
        self._held[use.server] -= self.score(use)
        self._held[target] += self.score(use)

    def relocate_to_lowest(self, use: ShardUse) -> None:
        """Move a shard to the server that is furthest below its share and has room."""
        for target in sorted(self.shares, key=lambda name: (self._excess(name), name)):
            if self.has_room(use, target):
                self.relocate(use, target)
                return

    def best_relocation(self, tolerance: float) -> tuple[ShardUse, str] | None:
        """The move that brings a server above its share and one below it closest to their shares."""
        order = sorted(self.shares, key=lambda name: (self._excess(name), name))
        for source in reversed(order):
            if self._excess(source) <= tolerance * self.shares[source]:
                return None
            for target in order:
                if self._excess(target) >= 0:
                    break
                if (found := self._best_of(source, target)) is not None:
                    return found, target
        return None

    def plan(self) -> Plan:
        """The plan, as far as it got."""
        return Plan(self._map, self._uses, tuple(self._relocations), tuple(self._refused))

    def _excess(self, server: str) -> float:
        return self._held[server] - self.shares[server]

    def _order(self, use: ShardUse) -> tuple[float, int]:
        return self.score(use), use.number

    def _best_of(self, source: str, target: str) -> ShardUse | None:
        """The shard nearest to half of the difference between the two, which would make them alike."""
        above, below = self._excess(source), self._excess(target)
        wanted, worst = (above - below) / 2, max(above, -below)
        own = self._left[source]
        right = bisect_left(own, (wanted, -1), key=self._order)
        left = right - 1
        while left >= 0 or right < len(own):
            is_left = right == len(own) or (
                left >= 0 and wanted - self.score(own[left]) <= self.score(own[right]) - wanted
            )
            use = own[left if is_left else right]
            left, right = (left - 1, right) if is_left else (left, right + 1)
            score = self.score(use)
            if max(abs(above - score), abs(below + score)) >= worst - _NOTHING:
                return None  # it would make neither better, and the others are further away
            if self.has_room(use, target):
                return use
        return None

    def _refuse(self, reason: str) -> bool:
        if reason not in self._refused:
            self._refused.append(reason)
        return False


def _scores(uses: Sequence[ShardUse], basis: Basis) -> dict[int, float]:
    """Each shard's share of what is spread evenly; where nothing of it is used, every shard counts alike."""
    parts: list[dict[int, float]] = []
    if basis in {"both", "size"} and any(use.size_bytes for use in uses):
        parts.append({use.number: float(use.size_bytes) for use in uses})
    if basis in {"both", "load"} and any(use.rows_per_s for use in uses):
        parts.append({use.number: use.rows_per_s for use in uses})
    if not parts:
        parts.append({use.number: 1.0 for use in uses})
    totals = [sum(part.values()) for part in parts]
    return {
        use.number: sum(part[use.number] / total for part, total in zip(parts, totals, strict=True))
        / len(parts)
        for use in uses
    }
