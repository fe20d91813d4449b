"""The OpenAPI document: what the framework generates from the routes, completed with errors, security and examples.

The framework does not know our problem+json responses, so they are added to every operation here.
"""

from collections.abc import Iterator
from typing import Any, cast

import msgspec
from litestar import Litestar, Request
from litestar.openapi.config import OpenAPIConfig
from litestar.openapi.plugins import JsonRenderPlugin
from litestar.openapi.spec import (
    Components,
    License,
    OpenAPIMediaType,
    OpenAPIResponse,
    OpenAPIType,
    Operation,
    Parameter,
    Reference,
    Schema,
    SecurityScheme,
)

from tintype import __version__
from tintype.api.http.openapi_constraints import body_types, copy_constraints
from tintype.api.http.openapi_examples import BY_FORMAT, BY_NAME, BY_TYPE
from tintype.api.http.openapi_numbers import limit_number

METHODS = ("get", "put", "post", "delete", "patch", "head", "options")
FIRST_ERROR_STATUS = 400


class RenderedOnce(JsonRenderPlugin):
    """The document as JSON, encoded once: anybody may ask for its 200 KB as often as they like."""

    _rendered = b""

    def render(self, request: Request[Any, Any, Any], openapi_schema: dict[str, Any]) -> bytes:
        """The document as JSON."""
        if not self._rendered:
            self._rendered = super().render(request, openapi_schema)
        return self._rendered


def openapi_config() -> OpenAPIConfig:
    """Where the document is served, and what it says about the API as a whole."""
    return OpenAPIConfig(
        title="Tintype",
        version=__version__,
        description=(
            "Photo sharing anyone can host. Ids are strings. Errors are problem+json with a stable `code`. For the "
            "next page send `next_cursor` as `cursor`."
        ),
        license=License(name="Apache-2.0", identifier="Apache-2.0"),
        path="/api",
        render_plugins=[RenderedOnce(path="/openapi.json")],
        use_handler_docstrings=True,
        components=Components(
            security_schemes={
                "token": SecurityScheme(
                    type="http",
                    scheme="bearer",
                    description="A token from signing in, or an API token.",
                ),
                "cookie": SecurityScheme(
                    type="apiKey",
                    name="tt_session",
                    security_scheme_in="cookie",
                    description="A browser's session.",
                ),
            }
        ),
        security=[{"token": []}, {"cookie": []}, {}],
    )


def complete_openapi(app: Litestar) -> None:
    """Add error responses, constraints and examples to the document of an application."""
    schemas = app.openapi_schema.components.schemas if app.openapi_schema.components else None
    if schemas is None:
        return
    schemas["Problem"] = _problem()
    for operation in _operations(app):
        _complete_responses(operation)
        for parameter in operation.parameters or ():
            if isinstance(parameter, Parameter) and parameter.schema is not None:
                limit_number(parameter.name, parameter.schema)
    bodies = body_types()
    for schema in schemas.values():
        _complete_schema(schema, bodies.get(schema.title or ""))


def _complete_responses(operation: Operation) -> None:
    responses = operation.responses or {}
    for status in [each for each in responses if each.isdigit() and int(each) >= FIRST_ERROR_STATUS]:
        del responses[status]
    for response in responses.values():
        if isinstance(response, OpenAPIResponse) and _is_empty(response):
            response.content = None
    responses["default"] = OpenAPIResponse(
        description="An error; `code` says which.",
        content={
            "application/problem+json": OpenAPIMediaType(schema=Reference("#/components/schemas/Problem"))
        },
    )
    operation.responses = responses


def _complete_schema(schema: Schema, body: type[msgspec.Struct] | None) -> None:
    """Add examples to a schema; to that of a body also what its type refuses."""
    if body is not None:
        schema.additional_properties = False
        copy_constraints(schema, body)
    for name, each in (schema.properties or {}).items():
        _give_example(name, each)
        if body is not None:
            limit_number(name, each)


def _operations(app: Litestar) -> Iterator[Operation]:
    for path in (app.openapi_schema.paths or {}).values():
        for method in METHODS:
            operation = cast("Operation | None", getattr(path, method))
            if operation is not None:
                yield operation


def _is_empty(response: OpenAPIResponse) -> bool:
    """Whether a response has no body at all, in contrast to a body of `null`."""
    found = [each.schema for each in (response.content or {}).values()]
    return all(isinstance(each, Schema) and each.type == OpenAPIType.NULL for each in found)


def _problem() -> Schema:
    texts = {
        "type": "Always about:blank; `code` tells errors apart.",
        "title": "The status in words.",
        "code": "Which error it is; codes never change.",
        "detail": "What to do about it, for people.",
        "request_id": "Helps to find the request in the logs.",
    }
    properties: dict[str, Any] = {
        name: Schema(type=OpenAPIType.STRING, description=text) for name, text in texts.items()
    }
    properties["status"] = Schema(type=OpenAPIType.INTEGER, description="The HTTP status.")
    required = sorted(properties)
    properties["retry_after_s"] = Schema(
        type=OpenAPIType.INTEGER, description="In how many seconds to try again, where that is known."
    )
    return Schema(type=OpenAPIType.OBJECT, title="Problem", properties=properties, required=required)


def _give_example(name: str, schema: Schema | Reference) -> None:
    if isinstance(schema, Reference) or schema.examples or schema.enum or schema.const is not None:
        return
    kind = schema.type[0] if isinstance(schema.type, list) and schema.type else schema.type
    fallback = BY_FORMAT.get(_text(schema.format), BY_TYPE.get(_text(kind)))
    example = BY_NAME.get(name, fallback)
    if example is not None:
        schema.examples = [example]


def _text(value: Any) -> str:
    return str(getattr(value, "value", value))
