"""Structured logs: one line per request or job, `noun.past_verb` plus fields.

Every line carries the id of the request or job it belongs to, so that a request can be traced from the browser
through the outbox to the worker. Captions, messages, passwords and tokens never enter a log.
"""

import logging
import secrets
import sys
from typing import Any, cast

import structlog
from structlog.contextvars import bind_contextvars, clear_contextvars, get_contextvars
from structlog.typing import FilteringBoundLogger, Processor

from tintype.base.settings import Settings

REQUEST_ID = "request_id"


def get_log(room: str) -> FilteringBoundLogger:
    """The logger of a room; its name is in every line."""
    return cast("FilteringBoundLogger", structlog.get_logger(room=room))


def set_up_log(settings: Settings, *, process: str) -> None:
    """Configure logging for this process: to standard error, as text for people or JSON for machines."""
    is_json = settings.log_format == "json"
    renderer: Processor = (
        structlog.processors.JSONRenderer() if is_json else structlog.dev.ConsoleRenderer(colors=False)
    )
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.StackInfoRenderer(),
            _with(process=process),
            *([structlog.processors.format_exc_info] if is_json else []),
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(getattr(logging, settings.log_level.upper())),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )


def begin_request(request_id: str | None = None, **fields: Any) -> str:
    """Give all following log lines of this task a request id, generated if there is none yet; returns it."""
    clear_contextvars()
    chosen = request_id or secrets.token_hex(8)
    bind_contextvars(**{REQUEST_ID: chosen}, **fields)
    return chosen


def current_request_id() -> str:
    """The id of the request or job this code runs for; empty outside of one."""
    return str(get_contextvars().get(REQUEST_ID, ""))


def _with(**fields: str) -> Processor:
    def add(_logger: Any, _method: str, line: structlog.typing.EventDict) -> structlog.typing.EventDict:
        line.update(fields)
        return line

    return add
