"""HTTP: translates requests into calls of rooms and their answers into JSON. It decides nothing."""

from tintype.api.app import create_app
from tintype.api.requests import RequestLog

__all__ = ["RequestLog", "create_app"]
