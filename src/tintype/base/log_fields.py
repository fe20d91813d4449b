"""What happens to the fields of every log line before it is rendered: tracebacks without values, and no secrets."""

import sys
from typing import Any, cast

from structlog.typing import EventDict

from tintype.base.redaction import escape_control_characters, redact, redact_random
from tintype.base.tracebacks import format_traceback

OWN_WORDS = frozenset(
    {"event", "level", "timestamp", "room", "process", "handler", "method", "code", "request_id"}
)
"""Fields whose values are written in our own code, or were checked before."""
PATH = "path"
MAX_PATH_LENGTH = 300
PLAIN = (bool, int, float, type(None))


def add_traceback(_logger: Any, _method: str, line: EventDict) -> EventDict:
    """Replace `exc_info` by a traceback without the values of local variables."""
    given: object = line.pop("exc_info", None)
    if given is True:
        given = sys.exc_info()[1]
    elif isinstance(given, tuple):
        given = cast("tuple[object, object, object]", given)[1]
    if isinstance(given, BaseException):
        line["exception"] = format_traceback(given)
    return line


def redact_fields(_logger: Any, _method: str, line: EventDict) -> EventDict:
    """Remove secrets and control characters from every field."""
    for name, value in line.items():
        if name == "exception" or isinstance(value, PLAIN):
            continue
        text = value if isinstance(value, str) else repr(value)
        if name in OWN_WORDS:
            line[name] = escape_control_characters(text)
        elif (
            name == PATH
        ):  # every request has one, and hardly any holds a secret: not compared with all values
            line[name] = redact_random(text[:MAX_PATH_LENGTH])
        else:
            line[name] = redact(text)
    return line
