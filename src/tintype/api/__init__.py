"""HTTP: translates requests into calls of rooms and their answers into JSON. It decides nothing."""

from tintype.api.app import create_app
from tintype.api.demo import BOARD, DemoStarter
from tintype.api.requests import RequestLog

__all__ = ["BOARD", "DemoStarter", "RequestLog", "create_app"]
