"""The helper: one small process with the libraries loaded that forks another for every job.

Loading the libraries takes most of a second, forking a loaded process a few milliseconds. The helper has a single
thread and never touches a picture: it forks, watches the clock, kills what runs too long, removes the job's folder
and says how the job ended. It ends when the process it works for does: the socket between them closes.
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

from tintype.media.sandbox.folders import make_folder
from tintype.media.sandbox.registry import JOBS
from tintype.media.sandbox.walls import leave_network
from tintype.media.sandbox.wire import MOST_REQUEST_BYTES, Ending, Request
from tintype.media.sandbox.worker import work


@dataclass
class Running:
    """A job under way: its process, the socket it answers on, and when its time is up."""

    request: Request
    answers: socket.socket
    pid: int
    pidfd: int
    folder: str
    ends_at: float
    is_timed_out: bool = False


class Helper:
    """Takes requests from one process until that process is gone."""

    def __init__(self, control: socket.socket, folder: str) -> None:
        self._control, self._folder = control, folder
        self._selector = selectors.DefaultSelector()
        self._selector.register(control, selectors.EVENT_READ)
        self._waiting: deque[tuple[Request, socket.socket]] = deque()
        self._running: dict[int, Running] = {}
        self._counts: Counter[str] = Counter()

    def serve(self) -> None:
        """Work until the other end of the control socket closes, then leave nothing running."""
        try:
            while self._take_turn():
                self._start_waiting()
                self._end_overdue()
        finally:
            for job in list(self._running.values()):
                self._finish(job)
            shutil.rmtree(self._folder, ignore_errors=True)

    def _take_turn(self) -> bool:
        soonest = min((job.ends_at for job in self._running.values()), default=None)
        patience = None if soonest is None else max(0.0, soonest - time.monotonic())
        for key, _ in self._selector.select(patience):
            if key.fileobj is self._control:
                if not self._receive():
                    return False
            elif key.data.pid in self._running:  # its process ended, or whoever asked for it hung up
                self._finish(key.data)
        return True

    def _receive(self) -> bool:
        packet, ancillary, _, _ = self._control.recvmsg(MOST_REQUEST_BYTES, socket.CMSG_SPACE(4))
        if not packet:
            return False
        (descriptor,) = struct.unpack("i", ancillary[0][2][:4])
        answers = socket.socket(fileno=descriptor)
        self._waiting.append((msgspec.msgpack.decode(packet, type=Request), answers))
        return True

    def _start_waiting(self) -> None:
        still_waiting: deque[tuple[Request, socket.socket]] = deque()
        for request, answers in self._waiting:
            if self._counts[request.name] < (request.at_once or os.cpu_count() or 1):
                self._start(request, answers)
            else:
                still_waiting.append((request, answers))
        self._waiting = still_waiting

    def _start(self, request: Request, answers: socket.socket) -> None:
        parent_pid = os.getpid()
        folder = ""
        try:
            folder = tempfile.mkdtemp(dir=self._folder)
            pid = os.fork()
        except OSError:  # no disk or no process to be had: who asked hears nothing, and tries again or later
            answers.close()
            shutil.rmtree(folder, ignore_errors=True)
            return
        if pid == 0:
            work(request, answers, folder, parent_pid)
        ends_at = time.monotonic() + request.timeout_s
        job = Running(request, answers, pid, os.pidfd_open(pid), folder, ends_at)
        self._running[pid] = job
        self._counts[request.name] += 1
        self._selector.register(job.pidfd, selectors.EVENT_READ, job)
        self._selector.register(answers, selectors.EVENT_READ, job)

    def _end_overdue(self) -> None:
        now = time.monotonic()
        for job in [job for job in self._running.values() if job.ends_at <= now]:
            job.is_timed_out = True
            self._finish(job)

    def _finish(self, job: Running) -> None:
        """Kill what is left of a job (its number is ours until we waited), clear up, and tell."""
        for kill in (os.killpg, os.kill):  # before its setsid there is no group of that number
            with contextlib.suppress(ProcessLookupError):
                kill(job.pid, signal.SIGKILL)
        _, status, usage = os.wait4(job.pid, 0)
        code = os.waitstatus_to_exitcode(status)
        ending = Ending(
            exit_code=max(code, 0),
            signal=max(-code, 0),
            is_timed_out=job.is_timed_out,
            cpu_s=usage.ru_utime + usage.ru_stime,
            peak_bytes=usage.ru_maxrss * 1024,
        )
        del self._running[job.pid]
        self._counts[job.request.name] -= 1
        self._selector.unregister(job.pidfd)
        self._selector.unregister(job.answers)
        os.close(job.pidfd)
        shutil.rmtree(job.folder, ignore_errors=True)
        _tell(job.answers, ending)


def _tell(answers: socket.socket, ending: Ending) -> None:
    with answers, contextlib.suppress(OSError):  # whoever asked may be gone, or not be reading
        answers.send(ending.pack(), socket.MSG_DONTWAIT)


def main() -> None:
    """Load what jobs need, shut the network out, and serve."""
    control = socket.socket(fileno=int(sys.argv[1]))
    for module in {job.target.partition(":")[0] for job in JOBS.values()}:
        try:
            importlib.import_module(module)
        except ImportError as error:
            print(f"sandbox: {module} cannot be loaded: {error}", file=sys.stderr)  # noqa: T201 - the helper's only log
    leave_network()
    gc.collect()
    gc.freeze()  # forked processes share these pages as long as nobody counts them
    Helper(control, make_folder()).serve()


if __name__ == "__main__":
    main()
