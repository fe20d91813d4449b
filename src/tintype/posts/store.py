"""The SQL and cache kinds of the posts room, and how their rows become models."""

from pathlib import Path
from typing import Any

import asyncpg
import msgspec

from shardwright.errors import ShardwrightError
from shardwright.routing import Queries
from tintype.posts.models import Place, Post, PostCounts, PostMedia, Span
from tintype.redis.leased_cache import CacheKind

QUERIES = Queries.load(Path(__file__).with_name("queries.sql"))
POSTS = CacheKind("post", Post, ttl_s=3_600, version=4, max_decoded=20_000, absent_ttl_s=60)
COUNTS = CacheKind("post_counts", PostCounts, ttl_s=3_600, max_decoded=20_000, absent_ttl_s=60)
SHARD_UNAVAILABLE = (ShardwrightError, asyncpg.PostgresError, asyncpg.InterfaceError, OSError)
"""Errors of a write to another person's shard that the handler of the event repeats later."""


def read_post(row: asyncpg.Record) -> Post:
    """A post from a row of `gather_posts`."""
    fields: dict[str, Any] = dict(row)
    place = (fields.pop("place_id"), fields.pop("place_name"), fields.pop("lat"), fields.pop("lon"))
    fields["place"] = read_place(*place)
    fields["media"] = msgspec.json.decode(row["media"] or "[]", type=tuple[PostMedia, ...])
    fields["spans"] = read_spans(row["spans"])
    fields["hashtags"], fields["mention_ids"] = tuple(row["hashtags"]), tuple(row["mention_ids"])
    return Post(**fields)


def read_place(place_id: str | None, name: str | None, lat: float | None, lon: float | None) -> Place | None:
    """A place from its columns; none where there is no place id."""
    return Place(place_id, name or "", lat, lon) if place_id is not None else None


def read_spans(text: str) -> tuple[Span, ...]:
    """Caption spans from their JSON column."""
    return msgspec.json.decode(text, type=tuple[Span, ...])


def read_counts(row: asyncpg.Record) -> PostCounts:
    """The counts of a post from its row."""
    return PostCounts(row["like_count"], row["comment_count"], row["like_batch"], row["counted_id"])
