"""The connection to NATS, and the names used on it.

Everything in NATS may be lost: PostgreSQL is the truth, and the outbox relay publishes again what is missing.
"""

from dataclasses import dataclass

from nats.aio.client import Client

from tintype.base.log import get_log
from tintype.base.settings import Settings

log = get_log("nats")


@dataclass(frozen=True)
class NatsNames:
    """Subjects and streams of one installation; the namespace separates installations that share a server."""

    namespace: str

    @property
    def events_stream(self) -> str:
        """The stream that holds events until every handler has acknowledged them."""
        return f"{self.namespace}_events"

    @property
    def dead_stream(self) -> str:
        """The stream of dead letters: jobs that used up their attempts."""
        return f"{self.namespace}_dead"

    def event(self, name: str) -> str:
        """The subject on which events of this name are published to all their handlers."""
        return f"{self.namespace}.events.{name}"

    def retry(self, handler: str) -> str:
        """The subject on which failed jobs and replayed dead letters reach their one handler."""
        return f"{self.namespace}.retry.{handler}"

    def retry_alone(self, handler: str) -> str:
        """The subject of a handler's jobs that may have killed a worker: they are handled one at a time."""
        return f"{self.namespace}.retry.{handler}.alone"

    def dead(self, handler: str) -> str:
        """The subject of a handler's dead letters."""
        return f"{self.namespace}.dead.{handler}"

    @property
    def media_progress(self) -> str:
        """The subject for progress of video conversion: JSON `{media_id, account_id, state, progress}`."""
        return f"{self.namespace}.media.progress"

    def poke(self, server: str) -> str:
        """The subject that wakes the outbox relay of a PostgreSQL server."""
        return f"{self.namespace}.poke.{server}"

    @staticmethod
    def user(account_id: int | str, leaf: str) -> str:
        """The subject of a person's MQTT topic `/u/{account_id}/{leaf}`; the gateway maps slashes to dots.

        Without the namespace: installations that share a NATS server use NATS accounts of their own.
        """
        return f"{NatsNames.user_root(account_id)}.{leaf}"

    @staticmethod
    def user_root(account_id: int | str) -> str:
        """The subject that those of a person's topics begin with; `*` for everybody's."""
        return f"/.u.{account_id}"

    @property
    def commands_stream(self) -> str:
        """The stream that holds commands of devices until they are carried out."""
        return f"{self.namespace}_commands"

    def notifications(self, account_id: int) -> str:
        """The subject that signals a change of somebody's list of notifications."""
        return f"{self.namespace}.notifications.{account_id}.changed"


async def connect_nats(settings: Settings, *, name: str) -> Client:
    """Connect to NATS and reconnect whenever the connection is lost, without a limit."""

    async def on_error(error: Exception) -> None:
        log.warning("nats.failed", error=str(error) or type(error).__name__)

    async def on_disconnect() -> None:
        if not client.is_closed:  # not when we close it ourselves
            log.warning("nats.disconnected")

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
