"""Training examples: what some viewers were shown, with the features as served, and what they did.

Only of viewers sampled by a hash, on their own shard, for some weeks. The features wait in Redis from the moment a
page is ranked until the client reports impressions; outcomes are joined whenever they arrive, even before that.
"""

import struct
from collections.abc import AsyncIterator, Mapping
from typing import Any

import msgspec
import numpy as np

from shardwright.routing import Shards
from tintype.base.bounded_map import BoundedMap
from tintype.base.ids import AccountId, PostId
from tintype.ranking.experiments import hash_fraction
from tintype.ranking.features import Ids
from tintype.ranking.keys import MAX_SERVED_PAGES, SERVED_TTL_S, Keys
from tintype.ranking.models import LINGER_MS, Interaction
from tintype.ranking.outcome_model import FEATURES
from tintype.ranking.row_layouts import Floats, Rows
from tintype.ranking.store import QUERIES
from tintype.redis.client import RedisClient

SERVED = np.dtype([("post", "<u8"), ("score", "<f4"), ("features", "<f2", (len(FEATURES),))])
FEATURE_TYPE = "<f2"
MAX_PER_PAGE = 50
READ_BATCH, SWEEP_BATCH = 500, 1_000
UNSEEN_DAYS = 2
"""How long an outcome waits for the impression it belongs to."""
MAX_REMEMBERED = 20_000
_COLUMNS = {"like": "liked", "comment": "commented", "save": "saved", "share": "shared"}


class TrainingExample(msgspec.Struct, frozen=True):
    """One post as one viewer was shown it, for training a model."""

    features: list[float]
    score: float
    weights: str
    arm: str
    outcomes: dict[str, bool]


class TrainingExamples:
    """Stores training examples, and deletes expired ones."""

    def __init__(
        self, shards: Shards, redis_client: RedisClient, keys: Keys, *, share: float, days: int
    ) -> None:
        self._shards, self._redis_client, self._keys = shards, redis_client, keys
        self._share, self._days = share, days
        self._sampled: BoundedMap[int, bool] = BoundedMap(MAX_REMEMBERED)

    def is_sampled(self, viewer: AccountId) -> bool:
        """Whether examples of this viewer are stored: always the same result, computed without I/O."""
        is_sampled = self._sampled.get(viewer)
        if is_sampled is None:
            is_sampled = self._sampled[viewer] = hash_fraction("examples", viewer) < self._share
        return is_sampled

    async def store_served(self, viewer: AccountId, served: Rows, *, weights: str, arm: str) -> None:
        """Store the features of a served page for an hour, until its impressions are reported."""
        header = msgspec.json.encode((weights, arm))
        blob = struct.pack("<H", len(header)) + header + served.tobytes()
        key = self._keys.served(viewer)
        await self._redis_client.execute(
            ("LPUSH", key, blob),
            ("LTRIM", key, 0, MAX_SERVED_PAGES - 1),
            ("EXPIRE", key, SERVED_TTL_S),
        )

    async def record_impressions(self, viewer: AccountId, spent_ms: Mapping[PostId, int]) -> None:
        """Turn served posts that have been seen into examples; of repeated impressions the longest time counts."""
        if not self.is_sampled(viewer) or not spent_ms:
            return
        [pages] = await self._redis_client.execute(("LRANGE", self._keys.served(viewer), 0, -1))
        rows: dict[int, tuple[str, str, bytes, float]] = {}
        for page in reversed(pages):
            rows |= {post: row for post, row in _unpack(page) if post in spent_ms}
        if not rows:
            return
        found = list(rows.values())
        await self._shards.owner(viewer).execute(
            QUERIES.store_examples,
            account_id=viewer,
            days=self._days,
            post_ids=list(rows),
            spent_ms=[spent_ms[PostId(each)] for each in rows],
            weights=[each[0] for each in found],
            arms=[each[1] for each in found],
            features=[each[2] for each in found],
            scores=[each[3] for each in found],
        )

    async def record_outcome(self, interaction: Interaction) -> None:
        """Add an outcome to the viewer's example; the newest change of its kind counts, whatever the order."""
        kind, viewer = interaction.kind, interaction.viewer_id
        if kind not in _COLUMNS or interaction.post_id is None or not self.is_sampled(viewer):
            return
        changes = dict.fromkeys(_COLUMNS.values(), 0)
        changes[_COLUMNS[kind]] = interaction.change_id if interaction.is_on else -interaction.change_id
        await self._shards.owner(viewer).execute(
            QUERIES.record_outcome,
            account_id=viewer,
            post_id=interaction.post_id,
            days=min(UNSEEN_DAYS, self._days),
            **changes,
        )

    async def read_all(self) -> AsyncIterator[TrainingExample]:
        """Every complete example, shard by shard: what a model is trained with."""
        for number in sorted(self._shards.map.owners):
            after: dict[str, Any] = {"after_account": 0, "after_post": 0}
            shard = self._shards.shard(number)
            while rows := await shard.fetch(QUERIES.page_examples, **after, limit=READ_BATCH):
                for row in rows:
                    yield _example(dict(row))
                after = {"after_account": rows[-1]["account_id"], "after_post": rows[-1]["post_id"]}

    async def sweep(self) -> None:
        """Delete expired examples, in small batches."""
        for number in sorted(self._shards.map.owners):
            shard = self._shards.shard(number)
            while await shard.execute(QUERIES.sweep_examples, limit=SWEEP_BATCH) == SWEEP_BATCH:
                pass


def pack_served(ids: Ids, scores: Floats, features: Floats) -> Rows:
    """The first posts of a ranked page, with their features in half precision."""
    served = np.empty(min(len(ids), MAX_PER_PAGE), SERVED)
    for name, values in (("post", ids), ("score", scores), ("features", features)):
        served[name] = values[:MAX_PER_PAGE]
    return served


def _unpack(page: bytes) -> list[tuple[int, tuple[str, str, bytes, float]]]:
    (length,) = struct.unpack_from("<H", page)
    weights, arm = msgspec.json.decode(page[2 : 2 + length], type=tuple[str, str])
    rows = np.frombuffer(page, SERVED, offset=2 + length)
    return [
        (int(row["post"]), (weights, arm, row["features"].tobytes(), float(row["score"]))) for row in rows
    ]


def _example(row: Mapping[str, Any]) -> TrainingExample:
    outcomes = {kind: row[column] > 0 for kind, column in _COLUMNS.items()}
    return TrainingExample(
        np.frombuffer(row["features"], FEATURE_TYPE).astype(float).tolist(),
        row["score"],
        row["weights"],
        row["arm"],
        outcomes | {"linger": row["spent_ms"] > LINGER_MS},
    )
