"""Creates the JetStream streams, and tells one incarnation of them from the next.

A stream that was lost and created again carries a new incarnation: that is how a relay learns that events it once
published are gone and must be published again.
"""

import secrets

from nats.js import JetStreamContext
from nats.js.api import RetentionPolicy, StorageType, StreamConfig
from nats.js.errors import BadRequestError, NotFoundError

from tintype.base.nats import NatsNames

INCARNATION = "tintype_incarnation"
DUPLICATE_WINDOW_S = 600
DEAD_AGE_S = 30 * 86_400


async def ensure_streams(js: JetStreamContext, names: NatsNames) -> str:
    """Create what is missing; returns the incarnation of the events stream."""
    events = StreamConfig(
        name=names.events_stream,
        subjects=[names.event(">"), names.retry(">")],
        # Interest: a message goes once every handler has acknowledged it, so disk holds the backlog alone.
        retention=RetentionPolicy.INTEREST,
        storage=StorageType.FILE,
        duplicate_window=DUPLICATE_WINDOW_S,
        metadata={INCARNATION: secrets.token_hex(8)},
    )
    dead = StreamConfig(
        name=names.dead_stream, subjects=[names.dead(">")], storage=StorageType.FILE, max_age=DEAD_AGE_S
    )
    await _ensure(js, dead)
    return await _ensure(js, events)


async def _ensure(js: JetStreamContext, config: StreamConfig) -> str:
    name = config.name or ""
    try:
        info = await js.stream_info(name)
    except NotFoundError:
        try:
            info = await js.add_stream(config)
        except BadRequestError:  # another worker created it in between
            info = await js.stream_info(name)
    return (info.config.metadata or {}).get(INCARNATION, "")
