"""Tracebacks for logs: where it happened and what was raised, without the values of local variables."""

import traceback
from collections.abc import Iterator

from tintype.base.redaction import redact

MAX_FRAMES = 40
MAX_CAUSES = 5
MAX_MESSAGE_LENGTH = 1_000


def describe_error(error: BaseException) -> str:
    """The type and the message of an error, on one line and without secrets."""
    return redact(f"{type(error).__name__}: {error}")[:MAX_MESSAGE_LENGTH]


def format_traceback(error: BaseException) -> str:
    """The traceback of an error and of what caused it, the cause first."""
    return "\n".join(line for each in reversed([*_causes(error)]) for line in _lines(each))


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    for _ in range(MAX_CAUSES):
        if error is None:
            return
        yield error
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def _lines(error: BaseException) -> Iterator[str]:
    yield "Traceback (most recent call last):"
    for frame in traceback.extract_tb(error.__traceback__, limit=-MAX_FRAMES):
        yield f'  File "{frame.filename}", line {frame.lineno}, in {frame.name}'
        if frame.line:
            yield f"    {frame.line}"
    yield describe_error(error)
    if isinstance(error, BaseExceptionGroup):
        for each in error.exceptions[:MAX_CAUSES]:  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] - a group's type parameter
            yield f"  in the group: {describe_error(each)}"  # pyright: ignore[reportUnknownArgumentType] - see above
