"""ETags for reads that often come back unchanged: whoever has the answer already is told so in a few bytes.

The tag is a hash of the whole answer, so it is right by construction, whoever asks and whatever changed.
"""

import hashlib
from typing import Any, TypeVar

import msgspec
from litestar import Request, Response
from litestar.openapi.datastructures import ResponseSpec

T = TypeVar("T")
UNCHANGED: dict[int, ResponseSpec] = {
    304: ResponseSpec(
        data_container=None, description="Unchanged since the ETag that was sent.", generate_examples=False
    )
}
"""For `responses=` of a route that answers through `tagged`."""


def tagged(request: Request[Any, Any, Any], view: T) -> Response[T]:
    """The view with its ETag, or 304 where the client has it already. Answers differ by viewer and are kept private."""
    content = msgspec.json.encode(view)
    etag = f'"{hashlib.blake2b(content, digest_size=12).hexdigest()}"'
    headers = {"ETag": etag, "Cache-Control": "private, no-cache", "Vary": "Authorization, Cookie"}
    if matches(request.headers.get("if-none-match", ""), etag):
        return Response(None, status_code=304, headers=headers)  # pyright: ignore[reportReturnType] - 304 has no content
    return Response(content, headers=headers, media_type="application/json")  # pyright: ignore[reportReturnType] - encoded once


def matches(sent: str, etag: str) -> bool:
    """Whether one of the tags sent is this one; weak ones count, as RFC 9110 has it for reads."""
    return any(each.strip().removeprefix("W/") in {etag, "*"} for each in sent.split(","))
