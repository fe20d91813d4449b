"""Scheduled posts: their types, their rows, and what a change makes of one. No I/O."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Literal

import asyncpg
import msgspec

from tintype.base.ids import AccountId, MediaId, ScheduledPostId
from tintype.media import Camera
from tintype.posts.errors import MediaInvalid, PublishTimeInvalid
from tintype.posts.models import DraftMedia, PostChanges, PostDraft, PostMedia, PostMediaChanges
from tintype.posts.validation import check_edit, check_tagged_count

MAX_SCHEDULED = 100
MAX_AHEAD = timedelta(days=366)
MAX_LATE = timedelta(days=7)
"""A time that has passed means at once: the photos may have been on their way when it did."""
KEPT_DAYS = 30
"""How long a post that could not be published waits for its author, with its photos."""

Problem = Literal["account_inactive", "media_invalid", "daily_limit", "refused"]
"""Why a post was not published at its time; one that reached the daily limit is published when that allows it."""
UNSET = msgspec.UNSET


class ScheduledRow(msgspec.Struct, frozen=True, kw_only=True):
    """A scheduled post as it is stored."""

    id: ScheduledPostId
    author_id: AccountId
    publish_at: datetime
    due_at: datetime | None
    """When the worker looks at it; None where its author must decide."""
    problem: Problem | None
    draft: PostDraft
    change_id: int
    idempotency_key: str | None
    body_hash: bytes


class ScheduledPost(msgspec.Struct, frozen=True, kw_only=True):
    """A scheduled post as its author sees it, with its photos and videos."""

    id: ScheduledPostId
    publish_at: datetime
    due_at: datetime | None
    problem: Problem | None
    draft: PostDraft
    media: tuple[PostMedia, ...]


class ScheduleChanges(msgspec.Struct, frozen=True, kw_only=True):
    """Changes of a scheduled post; unset fields stay as they are."""

    publish_at: datetime | msgspec.UnsetType = UNSET
    post: PostChanges = PostChanges()


def read_scheduled(row: asyncpg.Record) -> ScheduledRow:
    """A scheduled post from its row."""
    return ScheduledRow(
        id=ScheduledPostId(row["id"]),
        author_id=AccountId(row["author_id"]),
        publish_at=row["publish_at"],
        due_at=row["due_at"],
        problem=row["problem"],
        draft=msgspec.json.decode(row["draft"], type=PostDraft),
        change_id=row["change_id"],
        idempotency_key=row["idempotency_key"],
        body_hash=row["body_hash"],
    )


def show_scheduled(row: ScheduledRow, media: Mapping[MediaId, asyncpg.Record]) -> ScheduledPost:
    """A scheduled post with those of its media that still exist."""
    items = [_show_media(media[item.media_id], item) for item in row.draft.media if item.media_id in media]
    return ScheduledPost(
        id=row.id,
        publish_at=row.publish_at,
        due_at=row.due_at,
        problem=row.problem,
        draft=row.draft,
        media=tuple(items),
    )


def _show_media(row: asyncpg.Record, item: DraftMedia) -> PostMedia:
    fields = dict(row)
    camera = fields.pop("camera")
    return PostMedia(
        **fields,
        alt_text=item.alt_text,
        tagged=item.tagged,
        camera=msgspec.json.decode(camera, type=Camera) if camera else None,
    )


def check_publish_time(publish_at: datetime) -> datetime:
    """A time within the next year, or one that has passed a moment ago."""
    now = datetime.now(UTC)
    if not now - MAX_LATE <= publish_at <= now + MAX_AHEAD:
        raise PublishTimeInvalid
    return publish_at


def apply_changes(draft: PostDraft, changes: PostChanges) -> PostDraft:
    """The draft with valid changes made."""
    changes = check_edit(changes)
    by_media = {item.media_id: item for item in changes.media}
    if not by_media.keys() <= {item.media_id for item in draft.media}:
        raise MediaInvalid("That photo is not part of this post.")
    changed = msgspec.structs.replace(
        draft,
        media=tuple(_apply_to_media(item, by_media.get(item.media_id)) for item in draft.media),
        caption=draft.caption if changes.caption is UNSET else changes.caption,
        place=draft.place if changes.place is UNSET else changes.place,
        comments_enabled=(
            draft.comments_enabled if changes.comments_enabled is UNSET else changes.comments_enabled
        ),
        hides_like_count=(
            draft.hides_like_count if changes.hides_like_count is UNSET else changes.hides_like_count
        ),
        shows_camera=draft.shows_camera if changes.shows_camera is UNSET else changes.shows_camera,
    )
    check_tagged_count(changed.tagged_ids)
    return changed


def without_tags(draft: PostDraft, taggable: set[AccountId]) -> PostDraft:
    """The draft with tags of these people alone."""
    return msgspec.structs.replace(
        draft,
        media=tuple(
            msgspec.structs.replace(
                item, tagged=tuple(each for each in item.tagged if each.account_id in taggable)
            )
            for item in draft.media
        ),
    )


def _apply_to_media(item: DraftMedia, changes: PostMediaChanges | None) -> DraftMedia:
    if changes is None:
        return item
    return msgspec.structs.replace(
        item,
        alt_text=item.alt_text if changes.alt_text is UNSET else changes.alt_text,
        tagged=item.tagged if changes.tagged is UNSET else changes.tagged,
    )
