"""Training examples: what some viewers were shown, with the features as served, and what came of it.

Only of viewers drawn by a hash, on their own shard, for some weeks. The features wait in Redis from the moment a page
is ordered until the viewer's program says what was seen; outcomes are joined whenever they come, also before.
"""

import struct
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from shardwright.running import Queries, Shards
from tintype.base.ids import AccountId, PostId
from tintype.base.wire import Wire
from tintype.ranking.experiments import chance
from tintype.ranking.features import Ids
from tintype.ranking.keys import KEEP_SERVED_S, MOST_SERVED_PAGES, Keys
from tintype.ranking.models import LONG_MS, Act
from tintype.ranking.rows import Floats, Rows
from tintype.ranking.scorer import FEATURES

QUERIES = Queries.load(Path(__file__).with_name("queries.sql"))
SERVED = np.dtype([("post", "<u8"), ("score", "<f4"), ("features", "<f2", (len(FEATURES),))])
FEATURE_TYPE = "<f2"
MOST_A_PAGE = 50
PAGE, SWEEP = 500, 1_000
UNSEEN_DAYS = 2
"""How long an outcome waits for the impression it belongs to."""
MOST_CHANCES = 20_000
_COLUMNS = {"like": "liked", "comment": "commented", "save": "saved", "share": "shared"}


class Example(msgspec.Struct, frozen=True):
    """One post as one viewer was shown it, for whoever trains a model."""

    features: list[float]
    score: float
    weights: str
    arm: str
    outcomes: dict[str, bool]


class Examples:
    """Keeps examples, and lets them go."""

    def __init__(self, shards: Shards, wire: Wire, keys: Keys, *, share: float, days: int) -> None:
        self._shards, self._wire, self._keys = shards, wire, keys
        self._share, self._days = share, days
        self._drawn: dict[int, bool] = {}

    def is_drawn(self, viewer: AccountId) -> bool:
        """Whether examples of this viewer are kept: always the same answer, without asking anybody."""
        drawn = self._drawn.get(viewer)
        if drawn is None:
            if len(self._drawn) >= MOST_CHANCES:
                self._drawn.clear()
            drawn = self._drawn[viewer] = chance("examples", viewer) < self._share
        return drawn

    async def serve(self, viewer: AccountId, served: Rows, *, weights: str, arm: str) -> None:
        """Remember for an hour what a page was made of."""
        head = msgspec.json.encode((weights, arm))
        blob = struct.pack("<H", len(head)) + head + served.tobytes()
        name = self._keys.served(viewer)
        await self._wire.ask(
            ("LPUSH", name, blob),
            ("LTRIM", name, 0, MOST_SERVED_PAGES - 1),
            ("EXPIRE", name, KEEP_SERVED_S),
        )

    async def see(self, viewer: AccountId, spent_ms: Mapping[PostId, int]) -> None:
        """What was served and has now been seen becomes an example; seeing it again keeps the longest look."""
        if not self.is_drawn(viewer) or not spent_ms:
            return
        [pages] = await self._wire.ask(("LRANGE", self._keys.served(viewer), 0, -1))
        rows: dict[int, tuple[str, str, bytes, float]] = {}
        for page in reversed(pages):
            rows |= {post: row for post, row in _unpack(page) if post in spent_ms}
        if not rows:
            return
        found = list(rows.values())
        await self._shards.owner(viewer).execute(
            QUERIES.keep_examples,
            account_id=viewer,
            days=self._days,
            post_ids=list(rows),
            spent_ms=[spent_ms[PostId(each)] for each in rows],
            weights=[each[0] for each in found],
            arms=[each[1] for each in found],
            features=[each[2] for each in found],
            scores=[each[3] for each in found],
        )

    async def join(self, act: Act) -> None:
        """Note an outcome; the newest change of its kind counts, in whatever order they come."""
        if act.kind not in _COLUMNS or act.post_id is None or not self.is_drawn(act.viewer_id):
            return
        changes = dict.fromkeys(_COLUMNS.values(), 0)
        changes[_COLUMNS[act.kind]] = act.change_id if act.is_on else -act.change_id
        await self._shards.owner(act.viewer_id).execute(
            QUERIES.join_outcome,
            account_id=act.viewer_id,
            post_id=act.post_id,
            days=min(UNSEEN_DAYS, self._days),
            **changes,
        )

    async def read(self) -> AsyncIterator[Example]:
        """Every whole example there is, shard by shard: what a model is trained with."""
        for number in sorted(self._shards.map.owners):
            place: dict[str, Any] = {"after_account": 0, "after_post": 0}
            shard = self._shards.shard(number)
            while rows := await shard.fetch(QUERIES.page_examples, **place, limit=PAGE):
                for row in rows:
                    yield _example(dict(row))
                place = {"after_account": rows[-1]["account_id"], "after_post": rows[-1]["post_id"]}

    async def sweep(self) -> None:
        """Let go of what has expired, in small steps."""
        for number in sorted(self._shards.map.owners):
            while await self._shards.shard(number).execute(QUERIES.sweep_examples, limit=SWEEP) == SWEEP:
                pass


def pack_served(ids: Ids, scores: Floats, features: Floats) -> Rows:
    """The best posts of an order, with their features in half precision."""
    served = np.empty(min(len(ids), MOST_A_PAGE), SERVED)
    for name, values in (("post", ids), ("score", scores), ("features", features)):
        served[name] = values[:MOST_A_PAGE]
    return served


def _unpack(page: bytes) -> list[tuple[int, tuple[str, str, bytes, float]]]:
    (length,) = struct.unpack_from("<H", page)
    weights, arm = msgspec.json.decode(page[2 : 2 + length], type=tuple[str, str])
    rows = np.frombuffer(page, SERVED, offset=2 + length)
    return [
        (int(row["post"]), (weights, arm, row["features"].tobytes(), float(row["score"]))) for row in rows
    ]


def _example(row: Mapping[str, Any]) -> Example:
    outcomes = {kind: row[column] > 0 for kind, column in _COLUMNS.items()}
    return Example(
        np.frombuffer(row["features"], FEATURE_TYPE).astype(float).tolist(),
        row["score"],
        row["weights"],
        row["arm"],
        outcomes | {"linger": row["spent_ms"] > LONG_MS},
    )
