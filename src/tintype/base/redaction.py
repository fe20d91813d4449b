"""Keeps secrets and control characters out of logs.

Two ways, because neither is enough: by shape (bearer tokens, cookies, long random texts, everything behind the host of
a URL), and by value (whatever the current request carries in its credentials and its body). The second catches a
password, which looks like any other word.
"""

import re
from collections.abc import Callable, Iterable
from contextvars import ContextVar

HIDDEN = "[hidden]"
MIN_SECRET_LENGTH = 4
"""Shorter values of a request are left in: they would blot out every message, and no password is that short."""
MAX_LENGTH = 4_000
SHAPES: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"(?i)\b(bearer|basic)\s+[^\s'\",;]+"), rf"\1 {HIDDEN}"),
    (
        re.compile(
            r"(?i)((?:tt_session|tt_csrf|tt_device|csrf|password|passwd|secret|token|signature|api[_-]?key)[\w-]{0,20}"
            r"['\"]?\s{0,3}[=:]\s{0,3}['\"]?)[^\s'\",;&]+"
        ),
        rf"\1{HIDDEN}",
    ),
    # Credentials, the path and the query of a URL: links in mails, presigned uploads and push endpoints are secrets.
    (re.compile(r"(://)[^\s/@'\"<>]*@"), rf"\1{HIDDEN}@"),
    (re.compile(r"(?i)(https?://[^\s/?#'\"<>]+)[/?#][^\s'\"<>]+"), rf"\1/{HIDDEN}"),
    (re.compile(r"([?&][\w.%\[\]-]{1,60}=)[^\s&'\"<>]+"), rf"\1{HIDDEN}"),
)
ROW_DETAILS = re.compile(r"\n(?:DETAIL|HINT|CONTEXT|QUERY|WHERE):.*", re.DOTALL)
"""What PostgreSQL adds to a message quotes the offending row."""
RANDOM = re.compile(r"[A-Za-z0-9_-]{40,}")
"""Tokens, keys and digests have this shape, and names in our code, which contain no digits and capitals at once."""

Secrets = Callable[[], Iterable[str]]
_secrets: ContextVar[Secrets | None] = ContextVar("tintype_secrets", default=None)


def protect(secrets: Secrets | None) -> None:
    """From now on this task's log lines hide these values; they are only collected when a line needs them."""
    _secrets.set(secrets)


def redact(text: str) -> str:
    """A text for a log: without secrets and control characters, on one line."""
    collect = _secrets.get()
    values = {each for each in collect() if len(each) >= MIN_SECRET_LENGTH} if collect and text else ()
    for value in sorted(values, key=len, reverse=True):
        text = text.replace(value, HIDDEN)
    return redact_shapes(ROW_DETAILS.sub("", text)[:MAX_LENGTH])


def redact_shapes(text: str) -> str:
    """A text for a log, without what looks like a secret."""
    for pattern, shown in SHAPES:
        text = pattern.sub(shown, text)
    return redact_random(text)


def redact_random(text: str) -> str:
    """A text for a log, without long random parts."""
    return escape_control_characters(RANDOM.sub(_hide_random, text[:MAX_LENGTH]))


def _hide_random(found: re.Match[str]) -> str:
    return found[0] if found[0].islower() and not any(map(str.isdigit, found[0])) else HIDDEN


def escape_control_characters(text: str) -> str:
    r"""The text, with what a terminal or a reader of lines would interpret written as `\n`, `\x1b`, `\u202e`."""
    if text.isprintable():
        return text
    return "".join(
        each if each.isprintable() else each.encode("unicode_escape").decode("ascii") for each in text
    )
