"""The connection to NATS, and the names used on it.

Everything on the bus may be lost: PostgreSQL is the truth and the outbox refills what is missing.
"""

from dataclasses import dataclass

from nats.aio.client import Client

from tintype.base.log import get_log
from tintype.base.settings import Settings

log = get_log("bus")


@dataclass(frozen=True)
class Names:
    """Subjects and streams of one installation; the namespace keeps neighbours on a shared server apart."""

    namespace: str

    @property
    def events_stream(self) -> str:
        """The stream that holds events until every handler has acknowledged them."""
        return f"{self.namespace}_events"

    @property
    def dead_stream(self) -> str:
        """The stream of jobs that failed too often."""
        return f"{self.namespace}_dead"

    def event(self, name: str) -> str:
        """Where an event is announced to all its handlers."""
        return f"{self.namespace}.events.{name}"

    def retry(self, handler: str) -> str:
        """Where a replayed dead letter reaches its one handler again."""
        return f"{self.namespace}.retry.{handler}"

    def dead(self, handler: str) -> str:
        """Where a handler's dead letters go."""
        return f"{self.namespace}.dead.{handler}"

    @property
    def media_progress(self) -> str:
        """How far the conversion of a clip is, for whoever watches: JSON `{media_id, account_id, state, progress}`."""
        return f"{self.namespace}.media.progress"

    def poke(self, server: str) -> str:
        """Wakes the relay of a PostgreSQL server."""
        return f"{self.namespace}.poke.{server}"

    def notifications(self, account_id: int) -> str:
        """Says that somebody's list of notifications changed, to whoever listens at the moment."""
        return f"{self.namespace}.notifications.{account_id}.changed"


async def connect_bus(settings: Settings, *, name: str) -> Client:
    """Connect to NATS and stay connected: a lost server is tried again for ever."""

    async def on_error(error: Exception) -> None:
        log.warning("bus.failed", error=str(error) or type(error).__name__)

    async def on_disconnect() -> None:
        if not client.is_closed:  # closing on purpose is no news
            log.warning("bus.disconnected")

    client = Client()
    await client.connect(
        list(settings.nats),
        name=name,
        max_reconnect_attempts=-1,
        reconnect_time_wait=1,
        connect_timeout=5,
        ping_interval=10,
        max_outstanding_pings=3,
        error_cb=on_error,
        disconnected_cb=on_disconnect,
    )
    return client
