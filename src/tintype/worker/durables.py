"""Durable consumers: what they are called, how they are configured, and when one that nobody uses is deleted.

A durable stands for a fixed set of handlers: its name ends in a digest of theirs. A release with other handlers thus
has durables of its own, which begin with everything that the stream still holds, so whatever an older durable had not
finished is also theirs. That is why an older one can be deleted at any time without losing an event.
"""

import hashlib
import time
from collections.abc import Iterable, Sequence

from nats.js import JetStreamContext
from nats.js.api import AckPolicy, ConsumerConfig, ConsumerInfo, DeliverPolicy

from tintype.base.jobs import Handler
from tintype.base.log import get_log
from tintype.base.nats import NatsNames

log = get_log("durables")
INACTIVE_THRESHOLD_S = 7 * 86_400
"""The server deletes a durable that nobody has pulled from for this long, should no worker have done it."""
STALE_S = 600.0
"""A durable of other handlers that nobody pulls from holds the stream's messages; after this time it is deleted."""
MAX_ACK_PENDING = 10_000


def durable_name(purpose: str, handlers: Iterable[Handler]) -> str:
    """The name of the durable that serves these handlers."""
    digest = hashlib.sha256("\n".join(sorted(handler.name for handler in handlers)).encode())
    return f"{purpose}-{digest.hexdigest()[:12]}"


def durable_config(
    name: str, subjects: Sequence[str], *, ack_wait_s: float, is_one_at_a_time: bool
) -> ConsumerConfig:
    """The configuration of a durable on these subjects."""
    return ConsumerConfig(
        durable_name=name,
        filter_subjects=list(subjects),
        deliver_policy=DeliverPolicy.ALL,
        ack_policy=AckPolicy.EXPLICIT,
        ack_wait=ack_wait_s,
        max_deliver=-1,  # attempts are counted here, so that the last failure can be dead-lettered
        max_ack_pending=1 if is_one_at_a_time else MAX_ACK_PENDING,
        inactive_threshold=INACTIVE_THRESHOLD_S,
    )


class StaleDurables:
    """Deletes durables of handlers that this release does not have, once no other worker pulls from them."""

    def __init__(self, js: JetStreamContext, names: NatsNames, own: Iterable[str]) -> None:
        self._js, self._names, self._own = js, names, frozenset(own)
        self._idle: dict[str, tuple[tuple[int, int], float]] = {}

    async def delete(self, *, stale_s: float | None = None) -> list[str]:
        """Delete those that have neither moved nor been pulled from for a while; returns their names.

        Should a worker use one after all, it creates it anew and gets what the stream still holds.
        """
        stale_s = STALE_S if stale_s is None else stale_s
        deleted: list[str] = []
        for info in await self._list():
            if info.name not in self._own and self._idle_s(info) >= stale_s:
                await self._js.delete_consumer(self._names.events_stream, info.name)
                self._idle.pop(info.name, None)
                log.info("durable.deleted", durable=info.name, waiting=info.num_pending)
                deleted.append(info.name)
        return deleted

    def _idle_s(self, info: ConsumerInfo) -> float:
        """For how long this process has seen the durable unused; -1 while it is used, or is none of ours."""
        if info.num_waiting or info.config.inactive_threshold != INACTIVE_THRESHOLD_S:
            self._idle.pop(info.name, None)
            return -1.0
        state = tuple(each.consumer_seq if each else 0 for each in (info.delivered, info.ack_floor))
        known, since = self._idle.get(info.name, (None, 0.0))
        if known != state:
            since = time.monotonic()
            self._idle[info.name] = (state[0], state[1]), since
        return time.monotonic() - since

    async def _list(self) -> list[ConsumerInfo]:
        found: list[ConsumerInfo] = []
        while page := await self._js.consumers_info(self._names.events_stream, offset=len(found)):
            found += page
        return found
