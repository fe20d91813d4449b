"""The broker's own streams for MQTT: bounded, so that devices that come once leave nothing behind for ever."""

from dataclasses import replace

from nats.js import JetStreamContext
from nats.js.errors import NotFoundError

MAX_AGES_S = {"$MQTT_msgs": 3_600, "$MQTT_sess": 7 * 86_400, "$MQTT_rmsgs": 3_600, "$MQTT_qos2in": 3_600}
"""Messages that nobody takes, sessions that devices wanted kept, retained messages: none of it is relied upon."""


async def bound_streams(js: JetStreamContext) -> None:
    """Give the streams that exist an age beyond which they keep nothing; NATS creates them for its first device."""
    for name, age_s in MAX_AGES_S.items():
        try:
            info = await js.stream_info(name)
        except NotFoundError:
            continue  # no device has connected yet
        if info.config.max_age != age_s:
            await js.update_stream(replace(info.config, max_age=age_s))
