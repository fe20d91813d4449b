"""What the direct room does when something has happened: inboxes first, then the update logs of members."""

from collections.abc import Sequence

from tintype.direct.delivery import MessageDelivery
from tintype.direct.events import MessageChanged, MessageSent, ThreadChanged, ThreadSeen
from tintype.direct.inbox_feeder import InboxFeeder
from tintype.direct.message_media import MessageMedia
from tintype.direct.updates import UpdateFanOut


class DirectEventHandlers:
    """Handlers of batches; each may get the same event twice, and events in any order."""

    def __init__(
        self, feeder: InboxFeeder, updates: UpdateFanOut, delivery: MessageDelivery, media: MessageMedia
    ) -> None:
        self._feeder, self._updates, self._delivery, self._media = feeder, updates, delivery, media

    async def on_sent(self, events: Sequence[MessageSent]) -> None:
        """New messages reach every member's inbox and devices, unless this process has delivered them already."""
        await self._delivery.finish(each.message_id for each in events)
        is_delivered = self._delivery.is_delivered
        await self._feeder.feed(each.thread_id for each in events if not is_delivered(each.message_id))
        await self._updates.on_sent(events, is_delivered=is_delivered)

    async def on_changed(self, events: Sequence[MessageChanged]) -> None:
        """Edits, reactions and unsent messages reach every member's devices; media of the latter are deleted."""
        await self._media.remove([media_id for each in events for media_id in each.media_ids])
        await self._updates.on_changed(events)

    async def on_thread_changed(self, events: Sequence[ThreadChanged]) -> None:
        """Changes of members, names and blocks reach inboxes and devices; photos that were replaced are deleted."""
        await self._media.remove([media_id for each in events for media_id in each.media_ids])
        await self._feeder.feed(each.thread_id for each in events)
        await self._updates.on_thread_changed(events)

    async def on_seen(self, events: Sequence[ThreadSeen]) -> None:
        """Seen markers reach the reader's inbox and the others' devices."""
        await self._feeder.feed(each.thread_id for each in events)
        await self._updates.on_seen(events)
