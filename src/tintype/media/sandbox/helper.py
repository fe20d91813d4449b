"""A helper: a process that walls itself in, loads what a photo needs, waits for one job, runs it and ends.

All but the job itself happens before it is asked for, so that nobody waits for it. A helper never takes a second job:
whatever a file did to it ends with it.
"""

import contextlib
import errno
import gc
import importlib
import os
import select
import socket
import tempfile
import typing
from collections.abc import Callable
from typing import Any

import msgspec

from tintype.media.errors import MediaRefused
from tintype.media.sandbox.limits import close_descriptors_except, limit_job
from tintype.media.sandbox.namespaces import Namespaces
from tintype.media.sandbox.protocol import MAX_REPLY_BYTES, ExitCode, JobReply, JobRequest, receive_packet
from tintype.media.sandbox.registry import PROGRESS, TEMPORARY, WARM_UP
from tintype.media.sandbox.walls import RequiredWalls, missing_walls, raise_walls

NO_SPACE = {errno.EFBIG, errno.ENOSPC, errno.EDQUOT}
CONTROL = 3


def run_helper(
    control: socket.socket,
    folder: str,
    account: int | None,
    *,
    namespaces: Namespaces,
    required_walls: RequiredWalls,
    parent_pid: int,
) -> typing.NoReturn:
    """Wall this process in, wait for a job, run it, send the reply, and exit."""
    status = ExitCode.FAILED
    try:
        gc.disable()
        os.setsid()
        control = _keep_only(control)
        os.environ["TMPDIR"] = tempfile.tempdir = TEMPORARY
        walls = raise_walls(folder, account, namespaces, parent_pid=parent_pid)
        is_walled_in = not missing_walls(walls, required_walls)
        status = _serve_one(control) if is_walled_in else ExitCode.WALL_MISSING
    finally:
        os._exit(status)


def _keep_only(control: socket.socket) -> socket.socket:
    """Close every descriptor but this socket, and give it the lowest number."""
    os.dup2(control.detach(), CONTROL)
    close_descriptors_except(CONTROL)
    return socket.socket(fileno=CONTROL)


def _serve_one(control: socket.socket) -> ExitCode:
    _warm_up(control)
    packet, descriptors = receive_packet(control)
    if not packet:  # the fork server is gone, or does not need this helper
        return ExitCode.DONE
    request = msgspec.msgpack.decode(packet, type=JobRequest)
    replies, *progress = descriptors
    for descriptor in progress:
        os.dup2(descriptor, PROGRESS)
        os.close(descriptor)
    control.close()
    limit_job(request.limits)
    reply = _run(request)
    _send(replies, reply)
    return ExitCode.DONE if reply.kind == "result" else ExitCode.NO_RESULT


def _warm_up(control: socket.socket) -> None:
    """Use the libraries once, so that their first use costs no job time; not if a job is waiting already."""
    if not select.select([control], [], [], 0)[0]:
        # Should it fail, a job pays for the first use itself, and reports what is wrong.
        with contextlib.suppress(Exception):
            _find(WARM_UP)()


def _run(request: JobRequest) -> JobReply:
    try:
        return JobReply("result", msgspec.Raw(msgspec.msgpack.encode(_call(request))))
    except MediaRefused as refusal:
        facts = {key: value for key, value in refusal.facts.items() if isinstance(value, str | int | float)}
        return JobReply("refused", code=refusal.code, detail=refusal.detail, facts=facts)
    except MemoryError:
        return JobReply("no_memory")
    except Exception as error:  # noqa: BLE001 - whatever a decoder raises is reported to the caller
        kind = "no_space" if isinstance(error, OSError) and error.errno in NO_SPACE else "broken"
        return JobReply(kind, detail=f"{type(error).__name__}: {error}"[:500])


def _call(request: JobRequest) -> Any:  # any: each job has its own result
    job = _find(request.target)
    hints = [kind for key, kind in typing.get_type_hints(job).items() if key != "return"]
    return job(msgspec.msgpack.decode(request.arguments, type=hints[0]))


def _find(target: str) -> Callable[..., Any]:
    """A function of a module that the fork server has loaded; nothing can be loaded here."""
    module, _, name = target.partition(":")
    return getattr(importlib.import_module(module), name)


def _send(replies: int, reply: JobReply) -> None:
    encoded = msgspec.msgpack.encode(reply)
    if len(encoded) > MAX_REPLY_BYTES:
        encoded = msgspec.msgpack.encode(JobReply("broken", detail="the reply is too long"))
    left = memoryview(encoded)
    while left:
        left = left[os.write(replies, left) :]
