"""The sandbox client: sends a job to this process's fork server and awaits the result.

Every process has one fork server, started with its first job and again when it is gone; any thread and any event loop
may use it. The fork server notices by the control socket that this process is gone (a death signal would come when the
*thread* that started it ends), and by the job's socket that its caller was cancelled.
"""

import asyncio
import contextlib
import signal
import socket
from collections.abc import Coroutine, Iterator, Mapping
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
from tintype.media.sandbox.connection import send_job, try_send_job
from tintype.media.sandbox.protocol import (
    MAX_REPLY_BYTES,
    MAX_REQUEST_BYTES,
    ExitCode,
    ExitReport,
    JobReply,
    JobRequest,
    split_exit_report,
)
from tintype.media.sandbox.registry import JOBS

T = TypeVar("T")
QUEUE_TIMEOUT_S = 120
ATTEMPTS = 2
NOTHING: Mapping[str, Path] = {}

log = get_log("media")


@overload
async def run_in_sandbox(
    name: str,
    arguments: Any,
    timeout_s: float,
    *,
    returns: type[T],
    source: Path | None = None,
    outs: Mapping[str, Path] = NOTHING,
    progress: Path | None = None,
) -> T: ...


@overload
async def run_in_sandbox(
    name: str,
    arguments: Any,
    timeout_s: float,
    *,
    source: Path | None = None,
    outs: Mapping[str, Path] = NOTHING,
    progress: Path | None = None,
) -> Any: ...


async def run_in_sandbox(
    name: str,
    arguments: Any,  # any: each job has its own, checked by msgspec on the other side
    timeout_s: float,
    *,
    returns: Any = Any,
    source: Path | None = None,
    outs: Mapping[str, Path] = NOTHING,
    progress: Path | None = None,
) -> Any:
    """Run a job of `JOBS` in a process of its own and return its result, or raise why there is none.

    The job finds `source` as `registry.SOURCE`. What it writes into a folder of its own (`OUT`, `ORIGINAL`) is in the
    folder that `outs` names for it once the job has succeeded, and what it writes to the descriptor `PROGRESS` is in
    the file `progress` at once. It can reach no other file.

    A fault of the file is MediaRefused, one of ours MediaUnavailable; cancelling ends the process. A job may run twice
    if its process or the fork server is killed.
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
            source=_absolute(source) if source else None,
            outs={name: _absolute(folder) for name, folder in outs.items()},
        )
    )
    if len(request) > MAX_REQUEST_BYTES:
        raise MediaRefused(job=name, request_bytes=len(request))
    reply, report = await _run(name, request, timeout_s, progress)
    log.debug("media.job_ended", job=name, **msgspec.structs.asdict(report))
    return _result(name, reply, report, returns)


def _absolute(path: Path) -> str:
    return str(path.resolve())


async def _run(
    name: str, request: bytes, timeout_s: float, progress: Path | None
) -> tuple[bytes, ExitReport]:
    """Have the job done; once more if its process or the fork server was killed."""
    killed = None
    for _ in range(ATTEMPTS):
        try:
            async with asyncio.timeout(timeout_s + QUEUE_TIMEOUT_S):
                received = await _send_and_receive(request, progress)
        except (TimeoutError, OSError) as error:
            raise MediaUnavailable(job=name, error=str(error)) from error
        parts = split_exit_report(received)
        if parts is None:
            log.warning("media.fork_server_lost", job=name)
        elif not _is_killed(parts[1]):
            return parts
        else:
            log.warning("media.job_killed", job=name)
            killed = parts
    if killed is not None:
        return killed
    raise MediaUnavailable(job=name, error="the fork server ended in the middle of the job")


def _is_killed(report: ExitReport) -> bool:
    """Whether a job's process was killed by another than the fork server: an operator, or the kernel for memory."""
    return report.signal == signal.SIGKILL and not report.is_timed_out


async def _send_and_receive(request: bytes, progress: Path | None) -> bytes:
    ours, theirs = socket.socketpair()
    with ours:
        if progress is None and try_send_job(request, [theirs.fileno()]):
            theirs.close()
        else:
            await _finish_even_if_cancelled(asyncio.to_thread(_hand_over, request, theirs, progress))
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


def _hand_over(request: bytes, theirs: socket.socket, progress: Path | None) -> None:
    """Send and then close our copy in the same thread: a cancelled caller must not close it while it is being sent."""
    with theirs, contextlib.ExitStack() as opened:
        files = [opened.enter_context(progress.open("wb"))] if progress else []
        send_job(request, [theirs.fileno(), *(file.fileno() for file in files)])


async def _read(ours: socket.socket) -> bytes:
    try:
        return await asyncio.get_running_loop().sock_recv(ours, MAX_REPLY_BYTES)
    except ConnectionResetError:
        return b""


def _result(name: str, reply: bytes, report: ExitReport, returns: Any) -> Any:
    facts = {"job": name, **msgspec.structs.asdict(report)}
    if report.is_timed_out or report.signal == signal.SIGXCPU:
        raise MediaTooSlow(**facts)
    if report.signal in {signal.SIGKILL, signal.SIGXFSZ}:  # by the kernel for memory, twice; too much written
        raise MediaTooCostly(**facts)
    if report.exit_code == ExitCode.WALL_MISSING:
        log.error("media.sandbox_incomplete", fix="tintype doctor", **facts)
        raise MediaUnavailable(**facts)
    if report.exit_code == ExitCode.OUTPUT_LOST:
        raise MediaUnavailable(**facts)
    if report.signal or report.exit_code not in {ExitCode.DONE, ExitCode.NO_RESULT}:
        log.warning("media.job_crashed", **facts)
        raise MediaDamaged(**facts)
    try:
        decoded = msgspec.msgpack.decode(reply, type=JobReply)
        if decoded.kind == "result":
            return msgspec.msgpack.decode(decoded.result, type=returns)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise MediaDamaged(error=str(error), **facts) from error
    raise _refusal(decoded, facts)


def _refusal(decoded: JobReply, facts: dict[str, Any]) -> MediaRefused:
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
