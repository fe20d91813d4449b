"""Feed hints: a new post reached the timelines of these people, so a page that shows the feed may offer it.

A hint is stored nowhere and sent at QoS 0; the broker drops it for who is not connected. Who comes back reads the feed.
"""

import msgspec
from nats.aio.client import Client
from nats.errors import Error as NatsError

from tintype.base.nats import NatsNames
from tintype.feed import TimelinesReached


class FeedHint(msgspec.Struct, frozen=True):
    """There is a new post in the feed."""

    post_id: str


class FeedHints:
    """Tells followers of new posts."""

    def __init__(self, nats: Client) -> None:
        self._nats = nats

    async def on_reached(self, reached: TimelinesReached) -> None:
        """Publish the hint to everybody whose timeline has the post."""
        body = msgspec.json.encode(FeedHint(str(reached.post_id)))
        for follower in reached.followers:
            try:
                await self._nats.publish(NatsNames.user(follower, "feed"), body)
            except NatsError:
                return  # nobody hears anything at the moment
