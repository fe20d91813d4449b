"""A client of Tintype's real-time protocol, for bots and tests; needs the extra `tintype[client]`.

    async with LiveClient("https://photos.example.org", token, since=stored) as live:
        async for update in live.updates():
            ...  # each once, in order; store update.seq with what you made of it

    await DirectDevice(live).send(thread_id, "hello")  # once, however often it has to be repeated

It knows nothing of the server: whoever writes a client in another language finds all of the protocol here.
"""

from tintype.client.direct_device import DirectDevice, SentMessage
from tintype.client.live_client import LiveClient
from tintype.client.models import CommandRefused, LiveUpdate, ResetNeeded, SignedOut

__all__ = [
    "CommandRefused",
    "DirectDevice",
    "LiveClient",
    "LiveUpdate",
    "ResetNeeded",
    "SentMessage",
    "SignedOut",
]
