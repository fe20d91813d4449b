"""`tintype openapi`: prints the OpenAPI document without starting anything."""

import json

from tintype.api import create_app
from tintype.base.settings import Settings


def openapi() -> None:
    """Print the OpenAPI 3.1 document of the API."""
    print(json.dumps(create_app(Settings()).openapi_schema.to_schema(), indent=2, default=str))
