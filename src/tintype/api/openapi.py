"""The API's own description, completed: what every refusal looks like, how to prove who asks, and examples.

The framework describes what routes return; it knows nothing of our problem+json, so each operation gets it here, once.
"""

from collections.abc import Iterator
from typing import Any, cast

import msgspec
from litestar import Litestar
from litestar.openapi.config import OpenAPIConfig
from litestar.openapi.plugins import JsonRenderPlugin
from litestar.openapi.spec import (
    Components,
    License,
    OpenAPIMediaType,
    OpenAPIResponse,
    OpenAPIType,
    Operation,
    Reference,
    Schema,
    SecurityScheme,
)

from tintype import __version__
from tintype.api.examples import BY_FORMAT, BY_NAME, BY_TYPE

METHODS = ("get", "put", "post", "delete", "patch", "head", "options")
FIRST_REFUSAL = 400


def openapi_config() -> OpenAPIConfig:
    """Where the description lies, and what it says about the whole."""
    return OpenAPIConfig(
        title="Tintype",
        version=__version__,
        description=(
            "Photo sharing anyone can host. Ids are strings. Refusals are problem+json with a stable `code`. Pages are "
            "followed by handing `next_cursor` back as `cursor`."
        ),
        license=License(name="Apache-2.0", identifier="Apache-2.0"),
        path="/api",
        render_plugins=[JsonRenderPlugin(path="/openapi.json")],
        use_handler_docstrings=True,
        components=Components(
            security_schemes={
                "token": SecurityScheme(
                    type="http",
                    scheme="bearer",
                    description="A token from signing in, or one made for a program.",
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


def complete(app: Litestar) -> None:
    """Describe refusals and give examples throughout."""
    schemas = app.openapi_schema.components.schemas if app.openapi_schema.components else None
    if schemas is None:
        return
    schemas["Problem"] = _problem()
    for operation in _operations(app):
        responses = operation.responses or {}
        for status in [each for each in responses if each.isdigit() and int(each) >= FIRST_REFUSAL]:
            del responses[status]
        for response in responses.values():
            if isinstance(response, OpenAPIResponse) and _is_empty(response):
                response.content = None
        responses["default"] = OpenAPIResponse(
            description="A refusal; `code` says which.",
            content={
                "application/problem+json": OpenAPIMediaType(schema=Reference("#/components/schemas/Problem"))
            },
        )
        operation.responses = responses
    closed = _closed_names()
    for schema in schemas.values():
        if schema.title in closed:
            schema.additional_properties = False
        for name, each in (schema.properties or {}).items():
            _give_example(name, each)


def _operations(app: Litestar) -> Iterator[Operation]:
    for path in (app.openapi_schema.paths or {}).values():
        for method in METHODS:
            operation = cast("Operation | None", getattr(path, method))
            if operation is not None:
                yield operation


def _is_empty(response: OpenAPIResponse) -> bool:
    """Whether an answer has no body, which is something else than a body of null."""
    found = [each.schema for each in (response.content or {}).values()]
    return all(isinstance(each, Schema) and each.type == OpenAPIType.NULL for each in found)


def _closed_names() -> set[str]:
    """What may hold no fields but those described."""
    return {
        each.__name__
        for each in msgspec.Struct.__subclasses__()
        if each.__struct_config__.forbid_unknown_fields
    }


def _problem() -> Schema:
    texts = {
        "type": "Always about:blank; `code` tells refusals apart.",
        "title": "The status in words.",
        "code": "Which refusal it is; these never change.",
        "detail": "What to do about it, for people.",
        "request_id": "Helps to find the request in the logs.",
    }
    properties: dict[str, Any] = {
        name: Schema(type=OpenAPIType.STRING, description=text) for name, text in texts.items()
    }
    properties["status"] = Schema(type=OpenAPIType.INTEGER, description="The HTTP status.")
    return Schema(
        type=OpenAPIType.OBJECT, title="Problem", properties=properties, required=sorted(properties)
    )


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
