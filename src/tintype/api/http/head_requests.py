"""HEAD for every GET route: answered as the GET, without its body.

Media files and resumable uploads have HEAD routes of their own, which know the size without reading the content.
"""

import re
from typing import cast

from litestar.types import HTTPScope, HTTPSendMessage, Message, Send

WITH_OWN_HEAD = re.compile(r"/media/|/api/v1/media/tus/|/api/v1/imports/[^/]+/archives/")


def is_plain_head(scope: HTTPScope) -> bool:
    """Whether a request is a HEAD for which no route of its own exists."""
    return scope["method"] == "HEAD" and not WITH_OWN_HEAD.match(scope["path"])


def as_get(scope: HTTPScope) -> HTTPScope:
    """The same request as a GET."""
    return cast("HTTPScope", {**scope, "method": "GET"})


def without_body(send: Send) -> Send:
    """A `send` that drops the body of the response."""

    async def send_head(message: Message) -> None:
        if message["type"] == "http.response.body":
            message = cast("HTTPSendMessage", {**message, "body": b""})
        await send(message)

    return send_head
