"""The helpers of a fork server: those that wait for a job, and those that run one."""

import contextlib
import os
import selectors
import signal
import socket
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tintype.media.sandbox.accounts import JobAccounts, may_change_account
from tintype.media.sandbox.helper import run_helper
from tintype.media.sandbox.job_folders import JobFolder
from tintype.media.sandbox.namespaces import Namespaces
from tintype.media.sandbox.protocol import ForkServerArguments

MAX_EARLY_DEATHS = 3
"""After as many helpers that died before their job, none is started ahead of one: something is wrong here."""


@dataclass(eq=False)
class Helper:
    """A forked process, the socket on which it takes a job, and its folder."""

    pid: int
    pidfd: int
    control: socket.socket
    folder: JobFolder
    account: int | None


@dataclass(frozen=True)
class HelperExit:
    """How a helper ended, and what it used."""

    exit_code: int
    signal: int
    cpu_s: float
    peak_bytes: int


class HelperPool:
    """Forks helpers, keeps some waiting, and cleans up after each."""

    def __init__(
        self,
        arguments: ForkServerArguments,
        folder: str,
        namespaces: Namespaces,
        selector: selectors.BaseSelector,
    ) -> None:
        self._arguments, self._folder, self._namespaces = arguments, folder, namespaces
        self._selector = selector
        self._accounts = JobAccounts(Path(folder).parent) if may_change_account() else None
        self._idle: deque[Helper] = deque()
        self._early_deaths = 0

    def take(self) -> Helper:
        """A helper for one job: one that waits, or else a new one."""
        return self._idle.popleft() if self._idle else self._start()

    def refill(self) -> None:
        """Have as many helpers waiting as the settings say."""
        while len(self._idle) < self._arguments.helpers and self._early_deaths < MAX_EARLY_DEATHS:
            try:
                self._idle.append(self._start())
            except OSError:  # no disk, process or account is left: the next job tries again
                return

    @property
    def has_accounts(self) -> bool:
        """Whether every helper has an account of its own."""
        return self._accounts is not None

    @property
    def is_empty(self) -> bool:
        """Whether no helper waits for a job."""
        return not self._idle

    def is_idle(self, helper: Helper) -> bool:
        """Whether it still waits for a job."""
        return helper in self._idle

    def discard(self, helper: Helper) -> None:
        """Forget a waiting helper that has ended."""
        self._idle.remove(helper)
        self._early_deaths += 1
        self.end(helper)
        helper.folder.remove()

    def close(self) -> None:
        """End every waiting helper."""
        while self._idle:
            helper = self._idle.popleft()
            self.end(helper)
            helper.folder.remove()

    def end(self, helper: Helper) -> HelperExit:
        """Kill what is left of a helper (its pid is reserved until we wait for it); its folder stays."""
        for kill in (os.killpg, os.kill):  # before its setsid there is no group of that number
            with contextlib.suppress(ProcessLookupError):
                kill(helper.pid, signal.SIGKILL)
        _, status, usage = os.wait4(helper.pid, 0)
        self._selector.unregister(helper.pidfd)
        os.close(helper.pidfd)
        helper.control.close()
        if self._accounts is not None and helper.account is not None:
            self._accounts.give_back(helper.account)
        code = os.waitstatus_to_exitcode(status)
        if code == 0:
            self._early_deaths = 0
        return HelperExit(
            max(code, 0), max(-code, 0), usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024
        )

    def _start(self) -> Helper:
        with contextlib.ExitStack() as undo:
            account = None
            if self._accounts is not None:
                account = self._accounts.take()
                undo.callback(self._accounts.give_back, account)
            folder = JobFolder(self._folder, account)
            undo.callback(folder.remove)
            ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            undo.callback(ours.close)
            with theirs:
                pid = self._fork(theirs, folder, account)
            undo.pop_all()
        helper = Helper(pid, os.pidfd_open(pid), ours, folder, account)
        self._selector.register(helper.pidfd, selectors.EVENT_READ, helper)
        return helper

    def _fork(self, control: socket.socket, folder: JobFolder, account: int | None) -> int:
        parent_pid = os.getpid()
        pid = os.fork()
        if pid == 0:
            run_helper(
                control,
                str(folder.path),
                account,
                namespaces=self._namespaces,
                required_walls=self._arguments.required_walls,
                parent_pid=parent_pid,
            )
        return pid


def send_job(helper: Helper, packet: bytes, descriptors: list[Any]) -> None:
    """Give a helper its job; OSError if it has ended."""
    socket.send_fds(helper.control, [packet], descriptors)
