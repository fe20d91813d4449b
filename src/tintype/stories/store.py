"""The room's SQL, and how its rows are read."""

from collections.abc import Sequence
from pathlib import Path

import asyncpg
import msgspec

from shardwright.errors import ShardwrightError
from shardwright.routing import Queries, Shards
from tintype.base.ids import AccountId
from tintype.graph import visibility_rules
from tintype.posts import PostMedia
from tintype.stories.author_stories_cache import AuthorStories
from tintype.stories.elements import Element, decode_elements, mentioned_ids
from tintype.stories.models import Mention

QUERIES = Queries.load(Path(__file__).with_name("queries.sql"))
SERVER_UNAVAILABLE = (ShardwrightError, asyncpg.PostgresError, asyncpg.InterfaceError, OSError)
"""Errors of one database server that must not fail work on the others."""
_MEDIA_COLUMNS = (
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


async def load_author_stories(shards: Shards, authors: Sequence[AccountId]) -> dict[AccountId, AuthorStories]:
    """Each author's live stories, empty for authors without any; authors on unavailable servers are missing."""
    gathered = await shards.gather(QUERIES.gather_author_stories, authors)
    owners, failed = shards.map.owners, gathered.failed
    found: dict[AccountId, AuthorStories] = dict.fromkeys(
        [each for each in authors if owners[shards.shard_of(each)] not in failed] if failed else authors, ()
    )
    for row in gathered:
        found[row["author_id"]] = tuple(zip(row["ids"], row["are_close"], strict=True))
    return found


def is_visible(row: asyncpg.Record, viewer: AccountId | None) -> bool:
    """Whether a viewer who may see the author's content may see the story or highlight item of a row."""
    return visibility_rules.may_see_story(
        is_author=row["author_id"] == viewer,
        is_hidden=row["is_hidden"],
        is_playable=row["state"] in {"ready", "processing"},
        is_for_close_friends=row["audience"] == "close_friends",
        is_close_friend=row["is_close_friend"],
    )


def read_media(row: asyncpg.Record) -> PostMedia:
    """A story's photo or clip, from the media columns of its row."""
    return PostMedia(**{name: row[name] for name in _MEDIA_COLUMNS})


def read_mentions(text: str) -> tuple[Mention, ...]:
    """Decode the JSON that the `mentions` column holds."""
    return msgspec.json.decode(text, type=tuple[Mention, ...])


def read_elements(row: asyncpg.Record) -> tuple[Element, ...]:
    """Decode the JSON that the `elements` column holds."""
    return decode_elements(row["elements"])


def mention_ids(row: asyncpg.Record) -> tuple[AccountId, ...]:
    """The accounts mentioned in the story of a row, by name on the picture or by sticker; each once."""
    named = (each.account_id for each in read_mentions(row["mentions"]))
    return tuple(dict.fromkeys((*named, *mentioned_ids(read_elements(row)))))
