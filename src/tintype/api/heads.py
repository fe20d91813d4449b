"""HEAD: whatever can be read can be asked about, as GET would answer it and without the body.

Files and resumable uploads answer it themselves, for they know the size without reading.
"""

from typing import cast

from litestar.types import HTTPScope, HTTPSendMessage, Message, Send

OWN = ("/media/", "/api/v1/media/tus/")


def is_plain_head(scope: HTTPScope) -> bool:
    """Whether a request is a HEAD that no route answers itself."""
    return scope["method"] == "HEAD" and not scope["path"].startswith(OWN)


def as_get(scope: HTTPScope) -> HTTPScope:
    """The GET that it asks about."""
    return cast("HTTPScope", {**scope, "method": "GET"})


def without_body(send: Send) -> Send:
    """Sends everything but the body."""

    async def send_head(message: Message) -> None:
        if message["type"] == "http.response.body":
            message = cast("HTTPSendMessage", {**message, "body": b""})
        await send(message)

    return send_head
