"""The sandbox client: sends a job to this process's fork server and awaits the result.

Every process has one fork server, started with its first job and again when it is gone; any thread and any event loop
may use it. The fork server notices by the control socket that this process is gone (a death signal would come when the
*thread* that started it ends), and by the job's socket that its caller was cancelled.
"""

import asyncio
import signal
import socket
from collections.abc import Coroutine, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar, overload

import msgspec

from tintype.base.log import get_log
from tintype.media.errors import (
    MediaDamaged,
    MediaRefused,
    MediaTooCostly,
    MediaTooSlow,
    MediaUnavailable,
)
from tintype.media.sandbox.connection import send_job
from tintype.media.sandbox.protocol import (
    MAX_REPLY_BYTES,
    MAX_REQUEST_BYTES,
    ExitReport,
    JobRequest,
    Reply,
    split_exit_report,
)
from tintype.media.sandbox.registry import JOBS

T = TypeVar("T")
QUEUE_TIMEOUT_S = 120
ATTEMPTS = 2

log = get_log("media")


@overload
async def run_in_sandbox(
    name: str,
    arguments: Any,
    timeout_s: float,
    *,
    returns: type[T],
    reads: Sequence[Path] = (),
    writes: Sequence[Path] = (),
) -> T: ...


@overload
async def run_in_sandbox(
    name: str, arguments: Any, timeout_s: float, *, reads: Sequence[Path] = (), writes: Sequence[Path] = ()
) -> Any: ...


async def run_in_sandbox(
    name: str,
    arguments: Any,  # any: each job has its own, checked by msgspec on the other side
    timeout_s: float,
    *,
    returns: Any = Any,
    reads: Sequence[Path] = (),
    writes: Sequence[Path] = (),
) -> Any:
    """Run a job of `JOBS` in a process of its own and return its result, or raise why there is none.

    A fault of the file is MediaRefused, one of ours MediaUnavailable; cancelling ends the process. A job may read
    the paths in `reads` and write below those in `writes` and no others; it may run twice if the fork server is
    killed.
    """
    job = JOBS[name]
    request = msgspec.msgpack.encode(
        JobRequest(
            name=name,
            target=job.target,
            arguments=msgspec.Raw(msgspec.msgpack.encode(arguments)),
            timeout_s=timeout_s,
            limits=job.limits,
            at_once=job.at_once,
            reads=[str(path.resolve()) for path in reads],
            writes=[str(path.resolve()) for path in writes],
        )
    )
    if len(request) > MAX_REQUEST_BYTES:
        raise MediaRefused(job=name, request_bytes=len(request))
    reply, report = await _run(name, request, timeout_s)
    log.debug("media.job_ended", job=name, **msgspec.structs.asdict(report))
    return _result(name, reply, report, returns)


async def _run(name: str, request: bytes, timeout_s: float) -> tuple[bytes, ExitReport]:
    for _ in range(ATTEMPTS):
        try:
            async with asyncio.timeout(timeout_s + QUEUE_TIMEOUT_S):
                received = await _send_and_receive(request)
        except (TimeoutError, OSError) as error:
            raise MediaUnavailable(job=name, error=str(error)) from error
        if (parts := split_exit_report(received)) is not None:
            return parts
        log.warning("media.fork_server_lost", job=name)
    raise MediaUnavailable(job=name, error="the fork server ended in the middle of the job")


async def _send_and_receive(request: bytes) -> bytes:
    ours, theirs = socket.socketpair()
    with ours:
        await _finish_even_if_cancelled(asyncio.to_thread(_hand_over, request, theirs))
        ours.setblocking(False)
        received = bytearray()
        while chunk := await _read(ours):
            received += chunk
            del received[: -2 * MAX_REPLY_BYTES]  # only the last bytes matter
    return bytes(received)


async def _finish_even_if_cancelled(work: Coroutine[Any, Any, None]) -> None:
    """Await work that runs to its end even when the caller is cancelled; its outcome is then ignored."""
    task = asyncio.create_task(work)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        task.add_done_callback(lambda done: done.cancelled() or done.exception())
        raise


def _hand_over(request: bytes, theirs: socket.socket) -> None:
    """Send and then close our copy in the same thread: a cancelled caller must not close it while it is being sent."""
    with theirs:
        send_job(request, theirs)


async def _read(ours: socket.socket) -> bytes:
    try:
        return await asyncio.get_running_loop().sock_recv(ours, MAX_REPLY_BYTES)
    except ConnectionResetError:
        return b""


def _result(name: str, reply: bytes, report: ExitReport, returns: Any) -> Any:
    facts = {"job": name, **msgspec.structs.asdict(report)}
    if report.is_timed_out or report.signal == signal.SIGXCPU:
        raise MediaTooSlow(**facts)
    if report.signal == signal.SIGKILL:  # not by the fork server: the kernel's OOM killer
        raise MediaTooCostly(**facts)
    if report.signal or report.exit_code:
        raise MediaDamaged(**facts)
    try:
        decoded = msgspec.msgpack.decode(reply, type=Reply)
        if decoded.kind == "result":
            return msgspec.msgpack.decode(decoded.result, type=returns)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise MediaDamaged(error=str(error), **facts) from error
    raise _refusal(decoded, facts)


def _refusal(decoded: Reply, facts: dict[str, Any]) -> MediaRefused:
    if decoded.kind in {"no_memory", "no_space"}:
        return MediaTooCostly(reason=decoded.kind, **facts)
    if decoded.kind == "broken":
        log.warning("media.job_failed", error=decoded.detail, **facts)
        return MediaDamaged(error=decoded.detail, **facts)
    known = {kind.code: kind for kind in _kinds(MediaRefused)}
    return known.get(decoded.code, MediaDamaged)(decoded.detail, **decoded.facts | facts)


def _kinds(kind: type[MediaRefused]) -> Iterator[type[MediaRefused]]:
    yield kind
    for narrower in kind.__subclasses__():
        yield from _kinds(narrower)
