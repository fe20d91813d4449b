"""The OpenAPI document: complete, with examples, and with names that clients can use."""

from typing import Any

import pytest

from tintype.api import create_app
from tintype.base.settings import Settings

Document = dict[str, Any]


@pytest.fixture(scope="module")
def document() -> Document:
    return create_app(Settings()).openapi_schema.to_schema()


def test_every_operation_has_a_description_and_an_error_response(document: Document) -> None:
    operations = [
        (f"{method.upper()} {path}", operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
        if method in {"get", "put", "post", "delete", "patch"}
    ]

    assert [
        name for name, each in operations if not each.get("summary") or "default" not in each["responses"]
    ] == []


def test_schema_names_are_unique_without_a_prefix(document: Document) -> None:
    assert [name for name in document["components"]["schemas"] if "_" in name] == []


def _types(about: Document) -> set[str]:
    """The types of a field; one that may be null has several."""
    types = about.get("type", [])
    return {types} if isinstance(types, str) else set(types)


def test_every_field_has_an_example(document: Document) -> None:
    bare = [
        f"{name}.{field}"
        for name, schema in document["components"]["schemas"].items()
        for field, about in schema.get("properties", {}).items()
        if _types(about) & {"string", "integer", "number", "boolean"}
        and not {"examples", "enum", "const"} & about.keys()
    ]

    assert bare == []
