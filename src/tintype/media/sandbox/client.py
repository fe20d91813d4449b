"""The side that asks: sends a job to this process's helper and waits for what comes of it.

Every process has one helper, started with its first job and again when it is gone; any thread and any event loop
may ask. The helper notices that we are gone by the socket between us (a death signal would come when the *thread*
that started it ends), and that a caller gave up by the socket of that job.
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
from tintype.media.sandbox.connection import send_to_helper
from tintype.media.sandbox.registry import JOBS
from tintype.media.sandbox.wire import (
    MOST_ANSWER_BYTES,
    MOST_REQUEST_BYTES,
    Answer,
    Ending,
    Request,
    split_ending,
)

T = TypeVar("T")
QUEUE_PATIENCE_S = 120
TRIES = 2

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

    The file's fault is a MediaRefused, ours is MediaUnavailable; giving up (cancelling) ends the process. A job
    may read the paths in `reads` and write below those in `writes` and no others; it may run twice if the helper
    is killed.
    """
    job = JOBS[name]
    request = msgspec.msgpack.encode(
        Request(
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
    if len(request) > MOST_REQUEST_BYTES:
        raise MediaRefused(job=name, request_bytes=len(request))
    answer, ending = await _exchange(name, request, timeout_s)
    log.debug("media.job_ended", job=name, **msgspec.structs.asdict(ending))
    return _result(name, answer, ending, returns)


async def _exchange(name: str, request: bytes, timeout_s: float) -> tuple[bytes, Ending]:
    for _ in range(TRIES):
        try:
            async with asyncio.timeout(timeout_s + QUEUE_PATIENCE_S):
                received = await _ask(request)
        except (TimeoutError, OSError) as error:
            raise MediaUnavailable(job=name, error=str(error)) from error
        if (parts := split_ending(received)) is not None:
            return parts
        log.warning("media.helper_lost", job=name)
    raise MediaUnavailable(job=name, error="the helper ended in the middle of the job")


async def _ask(request: bytes) -> bytes:
    ours, theirs = socket.socketpair()
    with ours:
        await _finish_even_if_cancelled(asyncio.to_thread(_hand_over, request, theirs))
        ours.setblocking(False)
        received = bytearray()
        while chunk := await _read(ours):
            received += chunk
            del received[: -2 * MOST_ANSWER_BYTES]  # the end is what counts
    return bytes(received)


async def _finish_even_if_cancelled(work: Coroutine[Any, Any, None]) -> None:
    """Await work that is done to its end though nobody waits for it any more; only then its outcome is lost."""
    task = asyncio.create_task(work)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        task.add_done_callback(lambda done: done.cancelled() or done.exception())
        raise


def _hand_over(request: bytes, theirs: socket.socket) -> None:
    """Send and close our copy, in the thread that sends: a caller that gives up must not close it under its hands."""
    with theirs:
        send_to_helper(request, theirs)


async def _read(ours: socket.socket) -> bytes:
    try:
        return await asyncio.get_running_loop().sock_recv(ours, MOST_ANSWER_BYTES)
    except ConnectionResetError:
        return b""


def _result(name: str, answer: bytes, ending: Ending, returns: Any) -> Any:
    facts = {"job": name, **msgspec.structs.asdict(ending)}
    if ending.is_timed_out or ending.signal == signal.SIGXCPU:
        raise MediaTooSlow(**facts)
    if ending.signal == signal.SIGKILL:  # not by us: the kernel's OOM killer
        raise MediaTooCostly(**facts)
    if ending.signal or ending.exit_code:
        raise MediaDamaged(**facts)
    try:
        said = msgspec.msgpack.decode(answer, type=Answer)
        if said.kind == "result":
            return msgspec.msgpack.decode(said.result, type=returns)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise MediaDamaged(error=str(error), **facts) from error
    raise _refusal(said, facts)


def _refusal(said: Answer, facts: dict[str, Any]) -> MediaRefused:
    if said.kind in {"no_memory", "no_space"}:
        return MediaTooCostly(reason=said.kind, **facts)
    if said.kind == "broken":
        log.warning("media.job_broke", error=said.detail, **facts)
        return MediaDamaged(error=said.detail, **facts)
    known = {kind.code: kind for kind in _kinds(MediaRefused)}
    return known.get(said.code, MediaDamaged)(said.detail, **said.facts | facts)


def _kinds(kind: type[MediaRefused]) -> Iterator[type[MediaRefused]]:
    yield kind
    for narrower in kind.__subclasses__():
        yield from _kinds(narrower)
