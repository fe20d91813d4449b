"""What happens in a job's own process, from the fork to its end."""

import errno
import gc
import importlib
import os
import socket
import tempfile
import typing
from collections.abc import Callable
from typing import Any

import msgspec

from tintype.media.errors import MediaRefused
from tintype.media.sandbox.limits import (
    close_descriptors_but,
    die_with_parent,
    hold_to,
    offer_to_oom_killer,
)
from tintype.media.sandbox.walls import raise_walls
from tintype.media.sandbox.wire import MOST_ANSWER_BYTES, Answer, Request

NO_SPACE = {errno.EFBIG, errno.ENOSPC, errno.EDQUOT}


def work(request: Request, answers: socket.socket, folder: str, parent_pid: int) -> typing.NoReturn:
    """Do one job within its walls, say what came of it, and end."""
    status = 1
    try:
        gc.disable()
        os.setsid()
        die_with_parent(parent_pid)
        close_descriptors_but(answers.fileno())
        os.chdir(folder)
        os.environ["TMPDIR"] = tempfile.tempdir = folder
        offer_to_oom_killer()
        hold_to(request.limits)
        raise_walls(request.reads, [*request.writes, folder])
        _say(answers, _answer(request))
        status = 0
    finally:
        os._exit(status)


def _answer(request: Request) -> Answer:
    try:
        return Answer("result", msgspec.Raw(msgspec.msgpack.encode(_call(request))))
    except MediaRefused as refusal:
        facts = {key: value for key, value in refusal.facts.items() if isinstance(value, str | int | float)}
        return Answer("refused", code=refusal.code, detail=refusal.detail, facts=facts)
    except MemoryError:
        return Answer("no_memory")
    except Exception as error:  # noqa: BLE001 - whatever a decoder throws, the caller is told
        kind = "no_space" if isinstance(error, OSError) and error.errno in NO_SPACE else "broken"
        return Answer(kind, detail=f"{type(error).__name__}: {error}"[:500])


def _call(request: Request) -> Any:  # any: each job has its own result
    module, _, name = request.target.partition(":")
    job: Callable[[Any], Any] = getattr(importlib.import_module(module), name)
    hints = [kind for key, kind in typing.get_type_hints(job).items() if key != "return"]
    return job(msgspec.msgpack.decode(request.arguments, type=hints[0]))


def _say(answers: socket.socket, answer: Answer) -> None:
    encoded = msgspec.msgpack.encode(answer)
    if len(encoded) > MOST_ANSWER_BYTES:
        encoded = msgspec.msgpack.encode(Answer("broken", detail="the answer is too long"))
    left = memoryview(encoded)
    while left:
        left = left[os.write(answers.fileno(), left) :]
