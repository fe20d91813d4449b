"""What every part of the posts room works with, and reading a change from the row it was stored in."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import asyncpg
import msgspec

from shardwright.errors import ShardwrightError
from shardwright.running import Queries, Shards, Transaction
from tintype.accounts import Accounts
from tintype.base.cache import Cache, Kind, Source
from tintype.base.counting import HotCounts
from tintype.base.ids import MediaId, PostId
from tintype.base.outbox import Outbox
from tintype.base.ties import Ties
from tintype.graph import Graph, Sight
from tintype.posts.models import Counts, Place, Post, PostMedia, Span

QUERIES = Queries.load(Path(__file__).with_name("queries.sql"))
CARDS = Kind("post", Post, ttl_s=3_600, version=2, decoded_here=20_000, absent_s=60)
COUNTS = Kind("post_counts", Counts, ttl_s=3_600, decoded_here=20_000, absent_s=60)
SERVER_AWAY = (ShardwrightError, asyncpg.PostgresError, asyncpg.InterfaceError, OSError)
"""What a write on another shard may meet that the event makes good later."""


class MediaShelf(Protocol):
    """What posts need of the media room: pictures go in the transaction in which their post goes."""

    async def delete_in(self, tx: Transaction, media_ids: Sequence[MediaId]) -> object:
        """Let these pictures and their files go, once the transaction commits."""
        ...


@dataclass(frozen=True)
class Rules:
    """What an operator chose."""

    posts_per_day: int = 25
    keep_deleted_days: int = 30


@dataclass(frozen=True)
class Desk:
    """What the parts of the room share."""

    shards: Shards
    outbox: Outbox
    accounts: Accounts
    graph: Graph
    sight: Sight
    cache: Cache
    ties: Ties
    likes: HotCounts
    media: MediaShelf
    rules: Rules = Rules()


@dataclass(frozen=True)
class Sources:
    """Posts in their cached parts, for a reader that asks for many things in one round trip."""

    cards: Source[PostId, Post]
    counts: Source[PostId, Counts]
    likes: HotCounts
    """What must be added to the counts; ask for it before them, or together with them."""


class AtDesk:
    """A part of the room."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._shards, self._outbox, self._cache = desk.shards, desk.outbox, desk.cache
        self._accounts, self._sight = desk.accounts, desk.sight


def read_post(row: asyncpg.Record) -> Post:
    """A post from its row."""
    fields: dict[str, Any] = dict(row)
    place = (fields.pop("place_id"), fields.pop("place_name"), fields.pop("lat"), fields.pop("lon"))
    fields["place"] = read_place(*place)
    fields["media"] = msgspec.json.decode(row["media"] or "[]", type=tuple[PostMedia, ...])
    fields["spans"] = read_spans(row["spans"])
    fields["hashtags"], fields["mention_ids"] = tuple(row["hashtags"]), tuple(row["mention_ids"])
    return Post(**fields)


def read_place(place_id: str | None, name: str | None, lat: float | None, lon: float | None) -> Place | None:
    """A place from its columns."""
    return Place(place_id, name or "", lat, lon) if place_id is not None else None


def read_spans(text: str) -> tuple[Span, ...]:
    """Spans from how they are stored."""
    return msgspec.json.decode(text, type=tuple[Span, ...])


def read_counts(row: asyncpg.Record) -> Counts:
    """The numbers of a post from its row."""
    return Counts(row["like_count"], row["comment_count"], row["like_batch"], row["counted_id"])
