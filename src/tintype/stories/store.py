"""The room's SQL, its cached objects, and reading rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import asyncpg
import msgspec

from shardwright.errors import ShardwrightError
from shardwright.running import Queries, Shards
from tintype.base.ids import AccountId
from tintype.base.limits import Limiter
from tintype.base.outbox import Outbox
from tintype.graph import Graph, Sight
from tintype.media import MediaLibrary
from tintype.posts import PostMedia
from tintype.ranking import Ranking
from tintype.stories.models import Mention
from tintype.stories.rings import Rings, Shown

QUERIES = Queries.load(Path(__file__).with_name("queries.sql"))
SERVER_AWAY = (ShardwrightError, asyncpg.PostgresError, asyncpg.InterfaceError, OSError)
"""What asking a server may meet that others need not suffer from."""
_MEDIA = (
    "media_id",
    "folder",
    "type",
    "state",
    "width",
    "height",
    "placeholder",
    "duration_ms",
    "has_hls",
    "alt_text",
)


@dataclass(frozen=True)
class Desk:
    """What the parts of the room share."""

    shards: Shards
    outbox: Outbox
    sight: Sight
    graph: Graph
    media: MediaLibrary
    ranking: Ranking
    limiter: Limiter
    rings: Rings
    stories_per_day: int


class AtDesk:
    """A part of the room."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._shards, self._outbox, self._sight = desk.shards, desk.outbox, desk.sight


async def load_rings(shards: Shards, authors: Sequence[AccountId]) -> dict[AccountId, Shown]:
    """What authors show, also where that is nothing; of those whose server does not answer nothing is known."""
    gathered = await shards.gather(QUERIES.gather_rings, authors)
    owners, failed = shards.map.owners, gathered.failed
    found: dict[AccountId, Shown] = dict.fromkeys(
        [each for each in authors if owners[shards.shard_of(each)] not in failed] if failed else authors, ()
    )
    for row in gathered:
        found[row["author_id"]] = tuple(zip(row["ids"], row["are_close"], strict=True))
    return found


def read_media(row: asyncpg.Record) -> PostMedia:
    """The picture or clip of a story, from the columns of its row."""
    return PostMedia(**{name: row[name] for name in _MEDIA})


def read_mentions(text: str) -> tuple[Mention, ...]:
    """Mentions from how they are stored."""
    return msgspec.json.decode(text, type=tuple[Mention, ...])


def mention_ids(text: str) -> tuple[AccountId, ...]:
    """Who is mentioned."""
    return tuple(each.account_id for each in read_mentions(text))
