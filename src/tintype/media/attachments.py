"""Attaches uploads to the posts and stories that show them, inside the transaction of the room that owns those."""

from collections.abc import Sequence
from datetime import timedelta

from shardwright.routing import Transaction
from tintype.base.ids import AccountId, MediaId
from tintype.media.models import Media, MediaKind
from tintype.media.store import QUERIES


async def attach(
    tx: Transaction,
    account_id: AccountId,
    media_ids: Sequence[MediaId],
    *,
    to: int,
    kind: MediaKind | None,
    max_duration_ms: int | None,
    lifetime: timedelta | None,
    with_voice: bool,
) -> list[Media]:
    """Attach what may be attached, and return it in the order given."""
    rows = await tx.fetch(
        QUERIES.attach_media,
        attached_to=to,
        ids=list(media_ids),
        account_id=account_id,
        kind=kind,
        max_duration_ms=max_duration_ms,
        lifetime=lifetime,
        with_voice=with_voice,
    )
    attached = {row["id"]: Media(**row) for row in rows}
    return [attached[each] for each in dict.fromkeys(media_ids) if each in attached]
