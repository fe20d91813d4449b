"""Numbers as they are written in bodies and query parameters: JSON's grammar, and no size that arithmetic loses.

A number below 1e-9 that is not zero is refused: no coordinate, fraction or amount of ours is that small, and its square
is an error in PostgreSQL (underflow). The OpenAPI document says so of every number (`openapi.py`).
"""

import math
import re
from typing import Any

from litestar import Request
from litestar.handlers import BaseRouteHandler
from litestar.params import ParameterKwarg

from tintype.base.errors import Invalid
from tintype.base.json_depth import without_strings

SMALLEST = 1e-9
MAX_LENGTH = 40
"""The longest double in JSON has 24 characters."""
INTEGER = re.compile(r"0|-?[1-9][0-9]{0,18}", re.ASCII)
NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?", re.ASCII)
BOOLEAN = re.compile(r"true|false")
MAYBE_SMALL = re.compile(rb"[eE]-|0\.0{8}")
NUMBER_IN_JSON = re.compile(rb"-?[0-9][0-9.eE+-]*")
CHECKED_QUERY = "tintype_checked_query"


class NumberInvalid(Invalid):
    """That is no number that can be used: write digits, and nothing smaller than 0.000000001 except 0."""

    code = "number_invalid"


class BooleanInvalid(Invalid):
    """Write `true` or `false`."""

    code = "boolean_invalid"


def check_numbers(body: bytes) -> None:
    """Refuse JSON with a number that is too small to calculate with."""
    if MAYBE_SMALL.search(body):
        for literal in NUMBER_IN_JSON.findall(without_strings(body)):
            if MAYBE_SMALL.search(literal) and NUMBER.fullmatch(text := literal.decode()):
                _check_size(text)


def check_query(request: Request[Any, Any, Any]) -> None:
    """Refuse query parameters whose text is not what the OpenAPI document says: the framework would guess."""
    handler = request.route_handler
    checks: dict[str, type] | None = handler.opt.get(CHECKED_QUERY)
    if checks is None:
        checks = handler.opt[CHECKED_QUERY] = _typed_parameters(handler)
    if checks and request.scope["query_string"]:
        for name, kind in checks.items():
            for text in request.query_params.getall(name, []):
                _check_text(name, kind, text)


def _typed_parameters(handler: BaseRouteHandler) -> dict[str, type]:
    """The numbers and booleans among the query parameters of a route, by the names that clients send."""
    found: dict[str, type] = {}
    for name, field in handler.parsed_fn_signature.parameters.items():
        about = field.kwarg_definition
        if isinstance(about, ParameterKwarg) and about.param_type == "query":
            kinds = {field.annotation} | {each.annotation for each in field.inner_types}
            for kind in kinds & {bool, int, float}:
                found[about.query or about.name or name] = kind
    return found


def _check_text(name: str, kind: type, text: str) -> None:
    if kind is bool:
        if not BOOLEAN.fullmatch(text):
            raise BooleanInvalid(f"{name}: write `true` or `false`.")
    elif kind is int:
        if not INTEGER.fullmatch(text):
            raise NumberInvalid(f"{name}: write a whole number in digits.")
    elif not (len(text) <= MAX_LENGTH and NUMBER.fullmatch(text)):
        raise NumberInvalid(f"{name}: write a number in digits.")
    else:
        _check_size(text)


def _check_size(text: str) -> None:
    size = abs(float(text))
    # What is written with a digit other than 0 and still reads as zero was too small for a double.
    is_zero = size == 0 and not any(each in "123456789" for each in re.split("[eE]", text)[0])
    if not is_zero and (size < SMALLEST or math.isinf(size)):
        raise NumberInvalid
