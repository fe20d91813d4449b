"""Structured logs: one line per request or job, `noun.past_verb` plus fields.

Every line carries the id of the request or job it belongs to, so that a request can be traced from the browser
through the outbox to the worker. Captions, messages, passwords and tokens never enter a log: every text passes
`redaction.py`, and tracebacks show no local variables. What libraries log through `logging` takes the same way.
"""

import io
import logging
import secrets
import sys
import threading
from types import TracebackType
from typing import Any, TextIO, cast

import structlog
from structlog.contextvars import bind_contextvars, clear_contextvars, get_contextvars
from structlog.typing import FilteringBoundLogger, Processor

from tintype.base.log_fields import add_traceback, redact_fields
from tintype.base.redaction import Secrets, protect
from tintype.base.settings import Settings

REQUEST_ID = "request_id"
BEFORE_RENDERING: tuple[Processor, ...] = (
    structlog.contextvars.merge_contextvars,
    structlog.processors.add_log_level,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    add_traceback,
    redact_fields,
)


class StandardError(io.TextIOBase):
    """Standard error as it is when a line is written: whoever runs us may have replaced the one of the start."""

    def write(self, text: str, /) -> int:
        """Write a text."""
        return sys.stderr.write(text)

    def flush(self) -> None:
        """Write what is buffered."""
        sys.stderr.flush()


STANDARD_ERROR = cast("TextIO", StandardError())


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
        processors=[*BEFORE_RENDERING, _with(process=process), renderer],
        wrapper_class=structlog.make_filtering_bound_logger(getattr(logging, settings.log_level.upper())),
        logger_factory=lambda *_: structlog.PrintLogger(STANDARD_ERROR),
        cache_logger_on_first_use=True,
    )
    logging.basicConfig(handlers=[LibraryLogHandler()], level=logging.WARNING, force=True)
    sys.excepthook = _log_crash
    threading.excepthook = _log_thread_crash


class LibraryLogHandler(logging.Handler):
    """Passes what libraries log on to our own log."""

    def emit(self, record: logging.LogRecord) -> None:
        """Log a record of a library."""
        error = record.exc_info[1] if record.exc_info else None
        get_log(record.name).log(
            record.levelno, "library.logged", message=record.getMessage(), exc_info=error
        )


def begin_request(request_id: str | None = None, *, hide: Secrets | None = None, **fields: Any) -> str:
    """Give all following log lines of this task a request id, generated if there is none yet; returns it.

    None of these lines shows a value that `hide` returns.
    """
    clear_contextvars()
    protect(hide)
    chosen = request_id or secrets.token_hex(8)
    bind_contextvars(**{REQUEST_ID: chosen}, **fields)
    return chosen


def current_request_id() -> str:
    """The id of the request or job this code runs for; empty outside of one."""
    return str(get_contextvars().get(REQUEST_ID, ""))


def _log_crash(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    if issubclass(kind, KeyboardInterrupt):
        sys.__excepthook__(kind, error, trace)
        return
    get_log("process").critical("process.crashed", exc_info=error)


def _log_thread_crash(args: threading.ExceptHookArgs) -> None:
    if args.exc_value is not None and not isinstance(args.exc_value, SystemExit):
        get_log("process").critical("thread.crashed", exc_info=args.exc_value)


def _with(**fields: str) -> Processor:
    def add(_logger: Any, _method: str, line: structlog.typing.EventDict) -> structlog.typing.EventDict:
        line.update(fields)
        return line

    return add


# For commands that do not set up a log: the library's own default shows the values of local variables.
structlog.configure(
    processors=[*BEFORE_RENDERING, structlog.dev.ConsoleRenderer(colors=False)],
    logger_factory=lambda *_: structlog.PrintLogger(STANDARD_ERROR),
)
