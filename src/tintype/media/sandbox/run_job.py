"""Runs one job in its own process, from the fork to its exit."""

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
from tintype.media.sandbox.isolation import isolate_process
from tintype.media.sandbox.limits import (
    close_descriptors_except,
    die_with_parent,
    offer_to_oom_killer,
    set_limits,
)
from tintype.media.sandbox.protocol import MAX_REPLY_BYTES, JobRequest, Reply

NO_SPACE = {errno.EFBIG, errno.ENOSPC, errno.EDQUOT}


def run_job(request: JobRequest, replies: socket.socket, folder: str, parent_pid: int) -> typing.NoReturn:
    """Limit and isolate this process, run the job, send the reply, and exit."""
    status = 1
    try:
        gc.disable()
        os.setsid()
        die_with_parent(parent_pid)
        close_descriptors_except(replies.fileno())
        os.chdir(folder)
        os.environ["TMPDIR"] = tempfile.tempdir = folder
        offer_to_oom_killer()
        set_limits(request.limits)
        isolate_process(request.reads, [*request.writes, folder])
        _send(replies, _run(request))
        status = 0
    finally:
        os._exit(status)


def _run(request: JobRequest) -> Reply:
    try:
        return Reply("result", msgspec.Raw(msgspec.msgpack.encode(_call(request))))
    except MediaRefused as refusal:
        facts = {key: value for key, value in refusal.facts.items() if isinstance(value, str | int | float)}
        return Reply("refused", code=refusal.code, detail=refusal.detail, facts=facts)
    except MemoryError:
        return Reply("no_memory")
    except Exception as error:  # noqa: BLE001 - whatever a decoder raises is reported to the caller
        kind = "no_space" if isinstance(error, OSError) and error.errno in NO_SPACE else "broken"
        return Reply(kind, detail=f"{type(error).__name__}: {error}"[:500])


def _call(request: JobRequest) -> Any:  # any: each job has its own result
    module, _, name = request.target.partition(":")
    job: Callable[[Any], Any] = getattr(importlib.import_module(module), name)
    hints = [kind for key, kind in typing.get_type_hints(job).items() if key != "return"]
    return job(msgspec.msgpack.decode(request.arguments, type=hints[0]))


def _send(replies: socket.socket, reply: Reply) -> None:
    encoded = msgspec.msgpack.encode(reply)
    if len(encoded) > MAX_REPLY_BYTES:
        encoded = msgspec.msgpack.encode(Reply("broken", detail="the reply is too long"))
    left = memoryview(encoded)
    while left:
        left = left[os.write(replies.fileno(), left) :]
