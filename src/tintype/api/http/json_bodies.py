"""JSON bodies: decoded straight into the type that a route declares, strictly.

The framework would decode first and convert later, and guess: `0` for a boolean, `"5"` for a number. What the OpenAPI
document calls invalid is refused here, and what is nested too deeply before the decoder sees it.
"""

from typing import Any

import msgspec
from litestar import Request
from litestar.exceptions import InternalServerException, ValidationException
from litestar.handlers import BaseRouteHandler
from litestar.types.empty import Empty

from tintype.api.http.numbers import check_numbers
from tintype.api.http.request_secrets import BODY
from tintype.base.errors import Invalid
from tintype.base.json_depth import check_json_depth

DECODER = "tintype_body_decoder"


class JsonMalformed(Invalid):
    """That body is not JSON."""

    code = "json_malformed"


class BodyIncomplete(Invalid):
    """The connection ended before the whole body had arrived."""

    code = "body_incomplete"


class JsonRequest(Request[Any, Any, Any]):
    """A request whose JSON body is decoded strictly."""

    async def body(self) -> bytes:
        """The whole body."""
        try:
            body = self.scope[BODY] = await super().body()  # pyright: ignore[reportGeneralTypeIssues] - a key of our own
        except InternalServerException as error:  # the framework's word for a client that is gone
            raise BodyIncomplete from error
        return body

    async def json(self) -> Any:
        """The body as the type that the route declares for it."""
        if self._json is Empty:
            self._json = decode_body(self.route_handler, await self.body())
        return self._json


def decode_body(handler: BaseRouteHandler, body: bytes) -> Any:
    """A body as the type that a route declares; refused where it is too deep, malformed or of another type."""
    decoder: msgspec.json.Decoder[Any] | None = handler.opt.get(DECODER)
    if decoder is None:
        declared = handler.parsed_fn_signature.parameters["data"]
        decoder = handler.opt[DECODER] = msgspec.json.Decoder(declared.annotation)
    check_json_depth(body)
    check_numbers(body)
    try:
        return decoder.decode(body)
    except msgspec.ValidationError as error:
        message, _, path = str(error).partition(" - at `$")
        key = path.rstrip("`").lstrip(".")
        raise ValidationException(extra=[{"message": message, "key": key}]) from None
    except (msgspec.DecodeError, UnicodeError) as error:
        raise JsonMalformed(error=type(error).__name__) from None
