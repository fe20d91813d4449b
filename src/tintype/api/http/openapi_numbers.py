"""What the OpenAPI document says of numbers beyond their types.

These are the bounds that rooms check with codes of their own, and that none but zero is smaller than what can be
calculated with (`numbers.py`).
"""

from litestar.openapi.spec import OpenAPIType, Reference, Schema

from tintype.api.http.numbers import SMALLEST

BOUNDS: dict[str, tuple[float, float]] = {
    "lat": (-90, 90),
    "latitude": (-90, 90),
    "lon": (-180, 180),
    "longitude": (-180, 180),
    "x": (0, 1),
    "y": (0, 1),
}
TOO_SMALL = Schema(
    any_of=[
        Schema(exclusive_minimum=0, exclusive_maximum=SMALLEST),
        Schema(exclusive_minimum=-SMALLEST, exclusive_maximum=0),
    ]
)


def limit_number(name: str, schema: Schema | Reference) -> None:
    """Complete the schema of a number in a body or a query; every other schema stays as it is."""
    if isinstance(schema, Reference):
        return
    for each in (schema, *(schema.one_of or ()), *(schema.any_of or ())):
        if isinstance(each, Schema) and each.type == OpenAPIType.NUMBER:
            low, high = BOUNDS.get(name, (None, None))
            each.minimum = low if each.minimum is None else each.minimum
            each.maximum = high if each.maximum is None else each.maximum
            each.schema_not = TOO_SMALL
