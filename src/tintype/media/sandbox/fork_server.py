"""The fork server: one small process with the libraries loaded that forks another for every job.

Loading the libraries takes most of a second, forking a loaded process a few milliseconds. The fork server has a single
thread and never decodes anything: it forks helpers ahead of jobs, gives each one job, kills those that run too long or
write too much, moves what a job made to its caller, removes the job's folder and reports how the job ended. It ends
when the process it works for does, because the socket between them closes.
"""

import contextlib
import gc
import importlib
import os
import selectors
import signal
import socket
import sys
import time
from collections import Counter, deque
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from tintype.base.locked_folders import LockedFolder, remove_abandoned
from tintype.media.sandbox.helper_pool import Helper, HelperPool, send_job
from tintype.media.sandbox.job_folders import PREFIX, OutputRefused
from tintype.media.sandbox.landlock import find_version
from tintype.media.sandbox.namespaces import Namespaces, enter_namespaces
from tintype.media.sandbox.protocol import (
    ExitCode,
    ExitReport,
    ForkServerArguments,
    JobRequest,
    receive_packet,
)

LOOK_AT_FOLDERS_S = 1.0
OURS = {ExitCode.OUTPUT_REFUSED, ExitCode.OUTPUT_LOST}


@dataclass(eq=False)
class Job:
    """A job that waits or runs: its request, the socket it replies on, and the helper that runs it."""

    packet: bytes
    request: JobRequest
    replies: socket.socket
    progress: list[int]
    helper: Helper = field(init=False)
    ends_at: float = 0.0
    is_timed_out: bool = False
    is_too_large: bool = False


class ForkServer:
    """Runs the jobs of one process until that process is gone."""

    def __init__(
        self,
        arguments: ForkServerArguments,
        control: socket.socket,
        folder: LockedFolder,
        namespaces: Namespaces,
    ) -> None:
        self._control, self._folder = control, folder
        self._selector = selectors.DefaultSelector()
        self._selector.register(control, selectors.EVENT_READ)
        self._pool = HelperPool(arguments, str(folder.path), namespaces, self._selector)
        self._waiting: deque[Job] = deque()
        self._running: dict[Helper, Job] = {}
        self._counts: Counter[str] = Counter()
        # A link to the source is safe where its mode or Landlock keeps the job from writing to it.
        self._may_link = self._pool.has_accounts or find_version() > 0

    def serve(self) -> None:
        """Serve until the other end of the control socket closes, then kill every running job."""
        try:
            while self._process_events():
                self._start_waiting()
                self._end_overdue()
                if self._may_refill():
                    self._pool.refill()
        finally:
            for job in list(self._running.values()):
                self._finish(job)
            self._pool.close()
            self._folder.remove()

    def _may_refill(self) -> bool:
        """Whether helpers may be started ahead of jobs: between jobs, or when none waits and a processor is free."""
        return not self._running or (self._pool.is_empty and len(self._running) < (os.cpu_count() or 1))

    def _process_events(self) -> bool:
        for key, _ in self._selector.select(self._timeout_s()):
            if key.fileobj is self._control:
                if not self._receive():
                    return False
            elif isinstance(key.data, Job):  # its caller closed the socket
                if key.data.helper in self._running:
                    self._finish(key.data)
            elif key.data in self._running:  # its process ended
                self._finish(self._running[key.data])
            elif self._pool.is_idle(key.data):
                self._pool.discard(key.data)
        return True

    def _timeout_s(self) -> float | None:
        if not self._running:
            return None
        deadline = min(job.ends_at for job in self._running.values())
        return min(LOOK_AT_FOLDERS_S, max(0.0, deadline - time.monotonic()))

    def _receive(self) -> bool:
        packet, descriptors = receive_packet(self._control)
        if not packet:
            return False
        replies, *progress = descriptors
        request = msgspec.msgpack.decode(packet, type=JobRequest)
        self._waiting.append(Job(packet, request, socket.socket(fileno=replies), progress))
        return True

    def _start_waiting(self) -> None:
        still_waiting: deque[Job] = deque()
        for job in self._waiting:
            if self._counts[job.request.name] < (job.request.at_once or os.cpu_count() or 1):
                self._start(job)
            else:
                still_waiting.append(job)
        self._waiting = still_waiting

    def _start(self, job: Job) -> None:
        helper = self._hand_over(job)
        for descriptor in job.progress:
            os.close(descriptor)
        if helper is None:  # no disk, process or account is left: the caller gets no report, and retries
            job.replies.close()
            self._leave_if_homeless()
            return
        job.helper, job.ends_at = helper, time.monotonic() + job.request.timeout_s
        self._running[helper] = job
        self._counts[job.request.name] += 1
        self._selector.register(job.replies, selectors.EVENT_READ, job)

    def _hand_over(self, job: Job) -> Helper | None:
        """Give the job to a helper; to another one if the first was killed while it waited."""
        for _ in range(2):
            helper = None
            try:
                helper = self._pool.take()
                if job.request.source is not None:
                    helper.folder.put_source(job.request.source, may_link=self._may_link)
                send_job(helper, job.packet, [job.replies.fileno(), *job.progress])
            except OSError:
                if helper is not None:
                    self._pool.end(helper)
                    helper.folder.remove()
            else:
                return helper
        return None

    def _leave_if_homeless(self) -> None:
        """End, so that the next job gets a new fork server, if somebody has removed our folder."""
        if not self._folder.path.is_dir():
            sys.exit(1)

    def _end_overdue(self) -> None:
        now = time.monotonic()
        for job in list(self._running.values()):
            job.is_timed_out = job.ends_at <= now
            job.is_too_large = job.helper.folder.size_bytes() > job.request.limits.folder_bytes
            if job.is_timed_out or job.is_too_large:
                self._finish(job)

    def _finish(self, job: Job) -> None:
        """End a job's process, take what it made, clean up, and report."""
        del self._running[job.helper]
        self._counts[job.request.name] -= 1
        self._selector.unregister(job.replies)
        ended = self._pool.end(job.helper)
        exit_code = ended.exit_code
        if exit_code == ended.signal == 0:
            exit_code = self._take_output(job)
        elif exit_code in OURS:  # the job says what only we can know
            exit_code = ExitCode.FAILED
        report = ExitReport(
            exit_code=exit_code,
            signal=signal.SIGXFSZ if job.is_too_large else ended.signal,
            is_timed_out=job.is_timed_out,
            cpu_s=ended.cpu_s,
            peak_bytes=ended.peak_bytes,
        )
        job.helper.folder.remove()
        _report(job.replies, report)

    def _take_output(self, job: Job) -> int:
        try:
            job.helper.folder.move_outputs(job.request.outs)
        except OutputRefused as refused:
            _complain(f"{job.request.name} left {refused}")
            return ExitCode.OUTPUT_REFUSED
        except OSError as error:
            _complain(f"the output of {job.request.name} cannot be moved: {error}")
            return ExitCode.OUTPUT_LOST
        return ExitCode.DONE


def _report(replies: socket.socket, report: ExitReport) -> None:
    with replies, contextlib.suppress(OSError):  # the caller may be gone, or not reading
        replies.send(report.pack(), socket.MSG_DONTWAIT)


def _complain(what: str) -> None:
    print(f"sandbox: {what}", file=sys.stderr)  # noqa: T201 - the fork server's only log


def main() -> None:
    """Load the libraries that jobs need, leave the network, and serve."""
    arguments = msgspec.json.decode(sys.argv[1], type=ForkServerArguments)
    control = socket.socket(fileno=arguments.control)
    for module in arguments.modules:
        try:
            importlib.import_module(module)
        except ImportError as error:
            _complain(f"{module} cannot be loaded: {error}")
    folder = LockedFolder(PREFIX, Path(arguments.folder) if arguments.folder else None)
    remove_abandoned(PREFIX, folder.path.parent)
    namespaces = enter_namespaces()
    gc.collect()
    gc.freeze()  # so that forked processes share these pages: the collector does not write to them
    ForkServer(arguments, control, folder, namespaces).serve()


if __name__ == "__main__":
    main()
