"""What most views need besides the object they show."""

from dataclasses import dataclass

from shardwright.ids import Layout
from tintype.accounts import Account
from tintype.base.ids import AccountId
from tintype.media import MediaUrls
from tintype.wiring import Rooms


@dataclass(frozen=True, slots=True)
class ViewContext:
    """Reads times out of ids, makes the URLs of media, and says who the viewer is (None: not signed in)."""

    layout: Layout
    urls: MediaUrls
    viewer_id: AccountId | None = None


def context_for(viewer: Account | None, rooms: Rooms) -> ViewContext:
    """The context of an answer to this viewer."""
    return ViewContext(rooms.shards.map.layout, rooms.media.urls, viewer.id if viewer else None)
