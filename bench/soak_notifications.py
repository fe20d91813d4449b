"""How long it takes under the load of `bench soak` until somebody is notified of a comment on their post.

Somebody comments every other second on a post of somebody else, who then reads their notifications until the comment is
the first of them. The clock starts when the comment was confirmed.
"""

import asyncio
import json
import time

from bench.http_load import Call, HttpConnection
from bench.soak_load import join

EVERY_S = 2.0
LOOK_EVERY_S = 0.02


async def watch_notifications(port: int, took_s: list[float]) -> None:
    """Append how long each notification took, in seconds, until cancelled."""
    recipient, other = await join(port, 1, names="recipient"), await join(port, 1, names="commenter")
    author, commenter = recipient.tokens[0], other.tokens[0]
    comments = f"/api/v1/posts/{recipient.posts[0]}/comments"
    connection = await HttpConnection.open(port)
    try:
        while True:
            body = json.dumps({"text": f"comment number {len(took_s)}"}).encode()
            made = json.loads(await connection.send(Call("POST", comments, commenter, body)))
            started = time.monotonic()
            await _wait_for(connection, author, made["comment_id"])
            took_s.append(time.monotonic() - started)
            await asyncio.sleep(EVERY_S)
    finally:
        connection.close()


async def _wait_for(connection: HttpConnection, token: str, comment_id: str) -> None:
    while True:
        if await _newest_object(connection, token) == comment_id:
            return
        await asyncio.sleep(LOOK_EVERY_S)


async def _newest_object(connection: HttpConnection, token: str) -> str | None:
    """What the newest notification is about."""
    page = json.loads(await connection.send(Call("GET", "/api/v1/notifications?limit=1", token)))
    return page["notifications"][0]["object_id"] if page["notifications"] else None
