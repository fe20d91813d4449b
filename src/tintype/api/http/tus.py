"""The tus protocol, version 1.0.0 (https://tus.io/protocols/resumable-upload): headers, versions and capabilities."""

import base64
import binascii
from collections.abc import Awaitable, Callable
from typing import Any, cast

from litestar import Request, Response

from tintype.api.http.authentication import check_credentials
from tintype.api.http.problems import Problem, on_error, problem
from tintype.base.errors import Invalid, TintypeError
from tintype.wiring import Rooms

VERSION = "1.0.0"
CONTENT_TYPE = "application/offset+octet-stream"
MAX_METADATA_LENGTH = 8 * 1024
MAX_DECLARED_BYTES = 2**40
Capabilities = Callable[[Rooms], dict[str, str]]
"""The headers of an answer to OPTIONS, besides the version."""
Hook = Callable[[Request[Any, Any, Any]], Awaitable[Response[Any] | None]]


class TusHeaderWrong(Invalid):
    """A header of the tus protocol is missing or invalid."""

    code = "tus_header_wrong"


def on_tus_error(request: Request[Any, Any, Any], error: TintypeError) -> Response[Problem]:
    """The usual error response, with the header that every tus response has."""
    answer = on_error(request, error)
    answer.headers["Tus-Resumable"] = VERSION
    return answer


TUS_ERROR_HANDLERS: Any = {TintypeError: on_tus_error}  # the framework's own type of this is partly unknown


def protocol_check(capabilities: Capabilities) -> Hook:
    """A hook that answers OPTIONS with the server's capabilities, and refuses other versions of the protocol.

    A hook, because the framework answers OPTIONS itself, before any route.
    """

    async def check_protocol(request: Request[Any, Any, Any]) -> Response[Any] | None:
        if request.method == "OPTIONS":
            return respond(204, {"Tus-Version": VERSION, **capabilities(request.app.state.rooms)})
        await check_credentials(request)  # this hook replaces the one that all other routes have
        if request.method != "GET" and request.headers.get("tus-resumable") != VERSION:
            versions = {"Tus-Resumable": VERSION, "Tus-Version": VERSION}
            return problem(
                412,
                "tus_version_wrong",
                "This server supports tus 1.0.0: send `Tus-Resumable: 1.0.0`.",
                versions,
            )
        return None

    return check_protocol


def respond(status: int, headers: dict[str, str]) -> Response[None]:
    """A response without a body."""
    return Response(None, status_code=status, headers={"Tus-Resumable": VERSION, **headers})


def has_bytes(request: Request[Any, Any, Any]) -> bool:
    """Whether the body is bytes of an upload."""
    return request.headers.get("content-type", "").startswith(CONTENT_TYPE)


def refuse_type() -> Response[None]:
    """The answer to bytes that are not declared as such."""
    error = problem(415, "tus_type_wrong", f"Send the bytes as {CONTENT_TYPE}.", {"Tus-Resumable": VERSION})
    return cast("Response[None]", error)  # OpenAPI describes the successful response


def read_number(request: Request[Any, Any, Any], name: str) -> int:
    """A header that is a number of bytes."""
    text = request.headers.get(name, "")
    if not (text.isascii() and text.isdigit() and len(text) <= 16 and int(text) <= MAX_DECLARED_BYTES):  # noqa: PLR2004 - 2^40 has 13 digits
        raise TusHeaderWrong(f"The header {name.title()} must be a number of bytes.")
    return int(text)


def read_metadata(header: str) -> dict[str, str]:
    """Parse `key base64, key base64`. File names and types in it are not trusted."""
    if len(header) > MAX_METADATA_LENGTH:
        raise TusHeaderWrong("Upload-Metadata is too long.")
    found: dict[str, str] = {}
    for pair in filter(None, (part.strip() for part in header.split(","))):
        key, _, value = pair.partition(" ")
        try:
            found[key] = base64.b64decode(value.strip(), validate=True).decode()
        except (binascii.Error, ValueError) as error:
            raise TusHeaderWrong("Upload-Metadata is not in Base64.") from error
    return found
