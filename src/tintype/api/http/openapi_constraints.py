"""Lengths, patterns and bounds inside lists and optional fields: the framework's document leaves them out.

They are copied from the schema that the decoder of bodies describes of itself, so that what the document calls valid is
what the decoder accepts.
"""

from collections.abc import Iterable
from typing import Any, cast

import msgspec
from litestar.openapi.spec import OpenAPIType, Reference, Schema

CONSTRAINTS = {
    "minLength": "min_length",
    "maxLength": "max_length",
    "pattern": "pattern",
    "minItems": "min_items",
    "maxItems": "max_items",
    "minimum": "minimum",
    "maximum": "maximum",
    "exclusiveMinimum": "exclusive_minimum",
    "exclusiveMaximum": "exclusive_maximum",
}


def body_types() -> dict[str, type[msgspec.Struct]]:
    """The structs that refuse unknown fields, which are those of bodies, by their names."""
    return {
        each.__name__: each
        for each in msgspec.Struct.__subclasses__()
        if each.__struct_config__.forbid_unknown_fields
    }


def copy_constraints(schema: Schema, kind: type[msgspec.Struct]) -> None:
    """Complete the schema of a body with the constraints of its type."""
    _, components = msgspec.json.schema_components([kind])
    exact: dict[str, Any] = components[kind.__name__].get("properties", {})
    for name, field in (schema.properties or {}).items():
        if name in exact:
            _complete(field, exact[name])


def _complete(schema: Schema | Reference | None, exact: dict[str, Any]) -> None:
    if not isinstance(schema, Schema):
        return
    for name, attribute in CONSTRAINTS.items():
        if name in exact and getattr(schema, attribute) is None:
            setattr(schema, attribute, exact[name])
    if "items" in exact:
        _complete(schema.items, exact["items"])
    kinds = cast("list[dict[str, Any]]", exact.get("anyOf", [exact]))
    by_type = {str(each.get("type")): each for each in kinds}
    for branch in _branches(schema):
        if isinstance(branch, Schema) and isinstance(branch.type, OpenAPIType):
            _complete(branch, by_type.get(branch.type.value, {}))


def _branches(schema: Schema) -> Iterable[Schema | Reference]:
    return (*(schema.one_of or ()), *(schema.any_of or ()))
