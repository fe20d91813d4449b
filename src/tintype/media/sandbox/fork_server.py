"""The fork server: one small process with the libraries loaded that forks another for every job.

Loading the libraries takes most of a second, forking a loaded process a few milliseconds. The fork server has a single
thread and never decodes anything: it forks, kills jobs that run too long, removes a job's folder and reports how the
job ended. It ends when the process it works for does, because the socket between them closes.
"""

import contextlib
import gc
import importlib
import os
import selectors
import shutil
import signal
import socket
import struct
import sys
import tempfile
import time
from collections import Counter, deque
from dataclasses import dataclass

import msgspec

from tintype.media.sandbox.isolation import enter_empty_network
from tintype.media.sandbox.job_folders import create_locked_folder
from tintype.media.sandbox.protocol import MAX_REQUEST_BYTES, ExitReport, JobRequest
from tintype.media.sandbox.registry import JOBS
from tintype.media.sandbox.run_job import run_job


@dataclass
class Running:
    """A running job: its process, the socket it replies on, and its deadline."""

    request: JobRequest
    replies: socket.socket
    pid: int
    pidfd: int
    folder: str
    ends_at: float
    is_timed_out: bool = False


class ForkServer:
    """Runs the jobs of one process until that process is gone."""

    def __init__(self, control: socket.socket, folder: str) -> None:
        self._control, self._folder = control, folder
        self._selector = selectors.DefaultSelector()
        self._selector.register(control, selectors.EVENT_READ)
        self._waiting: deque[tuple[JobRequest, socket.socket]] = deque()
        self._running: dict[int, Running] = {}
        self._counts: Counter[str] = Counter()

    def serve(self) -> None:
        """Serve until the other end of the control socket closes, then kill every running job."""
        try:
            while self._process_events():
                self._start_waiting()
                self._end_overdue()
        finally:
            for job in list(self._running.values()):
                self._finish(job)
            shutil.rmtree(self._folder, ignore_errors=True)

    def _process_events(self) -> bool:
        deadline = min((job.ends_at for job in self._running.values()), default=None)
        timeout_s = None if deadline is None else max(0.0, deadline - time.monotonic())
        for key, _ in self._selector.select(timeout_s):
            if key.fileobj is self._control:
                if not self._receive():
                    return False
            elif key.data.pid in self._running:  # its process ended, or its caller closed the socket
                self._finish(key.data)
        return True

    def _receive(self) -> bool:
        packet, ancillary, _, _ = self._control.recvmsg(MAX_REQUEST_BYTES, socket.CMSG_SPACE(4))
        if not packet:
            return False
        (descriptor,) = struct.unpack("i", ancillary[0][2][:4])
        replies = socket.socket(fileno=descriptor)
        self._waiting.append((msgspec.msgpack.decode(packet, type=JobRequest), replies))
        return True

    def _start_waiting(self) -> None:
        still_waiting: deque[tuple[JobRequest, socket.socket]] = deque()
        for request, replies in self._waiting:
            if self._counts[request.name] < (request.at_once or os.cpu_count() or 1):
                self._start(request, replies)
            else:
                still_waiting.append((request, replies))
        self._waiting = still_waiting

    def _start(self, request: JobRequest, replies: socket.socket) -> None:
        parent_pid = os.getpid()
        folder = ""
        try:
            folder = tempfile.mkdtemp(dir=self._folder)
            pid = os.fork()
        except OSError:  # no disk or no process left: the caller gets no report, and retries
            replies.close()
            shutil.rmtree(folder, ignore_errors=True)
            return
        if pid == 0:
            run_job(request, replies, folder, parent_pid)
        ends_at = time.monotonic() + request.timeout_s
        job = Running(request, replies, pid, os.pidfd_open(pid), folder, ends_at)
        self._running[pid] = job
        self._counts[request.name] += 1
        self._selector.register(job.pidfd, selectors.EVENT_READ, job)
        self._selector.register(replies, selectors.EVENT_READ, job)

    def _end_overdue(self) -> None:
        now = time.monotonic()
        for job in [job for job in self._running.values() if job.ends_at <= now]:
            job.is_timed_out = True
            self._finish(job)

    def _finish(self, job: Running) -> None:
        """Kill what is left of a job (its pid is reserved until we wait for it), clean up, and report."""
        for kill in (os.killpg, os.kill):  # before its setsid there is no group of that number
            with contextlib.suppress(ProcessLookupError):
                kill(job.pid, signal.SIGKILL)
        _, status, usage = os.wait4(job.pid, 0)
        code = os.waitstatus_to_exitcode(status)
        report = ExitReport(
            exit_code=max(code, 0),
            signal=max(-code, 0),
            is_timed_out=job.is_timed_out,
            cpu_s=usage.ru_utime + usage.ru_stime,
            peak_bytes=usage.ru_maxrss * 1024,
        )
        del self._running[job.pid]
        self._counts[job.request.name] -= 1
        self._selector.unregister(job.pidfd)
        self._selector.unregister(job.replies)
        os.close(job.pidfd)
        shutil.rmtree(job.folder, ignore_errors=True)
        _report(job.replies, report)


def _report(replies: socket.socket, report: ExitReport) -> None:
    with replies, contextlib.suppress(OSError):  # the caller may be gone, or not reading
        replies.send(report.pack(), socket.MSG_DONTWAIT)


def main() -> None:
    """Load the libraries that jobs need, leave the network, and serve."""
    control = socket.socket(fileno=int(sys.argv[1]))
    for module in {job.target.partition(":")[0] for job in JOBS.values()}:
        try:
            importlib.import_module(module)
        except ImportError as error:
            print(f"sandbox: {module} cannot be loaded: {error}", file=sys.stderr)  # noqa: T201 - the fork server's only log
    enter_empty_network()
    gc.collect()
    gc.freeze()  # so that forked processes share these pages: the collector does not write to them
    ForkServer(control, create_locked_folder()).serve()


if __name__ == "__main__":
    main()
