"""Jobs that try to leave the sandbox, as a compromised decoder would: with system calls, not with good manners."""

import ctypes
import mmap
import os
import platform
import resource
import socket
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tintype.media.sandbox import OUT, SOURCE

libc = ctypes.CDLL(None, use_errno=True)
COLUMN = {"x86_64": 0, "aarch64": 1}.get(platform.machine(), 0)

# name: (number on x86-64, on arm64), then arguments that would work.
SYSTEM_CALLS: dict[str, tuple[tuple[int, int], tuple[Any, ...]]] = {
    "ptrace": ((101, 117), (0, 0, 0, 0)),
    "process_vm_readv": ((310, 270), (os.getppid(), None, 0, None, 0, 0)),
    "io_uring_setup": ((425, 425), (8, bytes(120))),
    "bpf": ((321, 280), (0, bytes(64), 64)),
    "userfaultfd": ((323, 282), (0,)),
    "keyctl": ((250, 219), (0, -3, 0, 0, 0)),
    "add_key": ((248, 217), (b"user", b"x", b"x", 1, -3)),
    "mount": ((165, 40), (b"none", b"tmp", b"tmpfs", 0, None)),
    "umount2": ((166, 39), (b"/", 2)),
    "pivot_root": ((155, 41), (b".", b".")),
    "chroot": ((161, 51), (b"out",)),
    "unshare": ((272, 97), (0x10000000,)),
    "setns": ((308, 268), (0, 0)),
    "perf_event_open": ((298, 241), (bytes(128), 0, -1, -1, 0)),
    "memfd_create": ((319, 279), (b"x", 0)),
    "init_module": ((175, 105), (bytes(8), 8, b"")),
    "open_by_handle_at": ((304, 265), (-100, bytes(128), 0)),
    "personality": ((135, 92), (0xFFFFFFFF,)),
    "pidfd_open": ((434, 434), (os.getpid(), 0)),
    "seccomp": ((317, 277), (1, 0, bytes(16))),
    "fork": ((57, 220), (17, 0, 0, 0, 0)),
    "clone": ((56, 220), (17, 0, 0, 0, 0)),
    "clone3": ((435, 435), (bytes(88), 88)),
    "execve": ((59, 221), (b"/bin/true", None, None)),
    "execveat": ((322, 281), (-100, b"/bin/true", None, None, 0)),
    "socket": ((41, 198), (2, 1, 0)),
    "connect": ((42, 203), (0, bytes(16), 16)),
    "bind": ((49, 200), (0, bytes(16), 16)),
    "sendto": ((44, 206), (0, b"x", 1, 0, None, 0)),
    "sendmsg": ((46, 211), (0, bytes(56), 0)),
    "setuid": ((105, 146), (0,)),
    "setresuid": ((117, 147), (0, 0, 0)),
    "setgroups": ((116, 159), (0, None)),
    "capset": ((126, 91), (bytes(8), bytes(24))),
    "shmget": ((29, 194), (0, 4096, 0o1600)),
    "mq_open": ((240, 180), (b"x", 0o102, 0o600, None)),
    "chmod": ((268, 53), (-100, b"out", 0o777)),
    "settimeofday": ((164, 170), (None, bytes(8))),
}


def call_the_kernel(_: None) -> dict[str, str]:
    """Each call by its number: what came of it."""
    return {name: _call(numbers[COLUMN], arguments) for name, (numbers, arguments) in SYSTEM_CALLS.items()}


def _call(number: int, arguments: tuple[Any, ...]) -> str:
    ctypes.set_errno(0)
    result = libc.syscall(number, *arguments)
    if number == SYSTEM_CALLS["fork"][0][COLUMN] and result == 0:
        os._exit(0)  # the child that must not exist
    return os.strerror(ctypes.get_errno()) if result < 0 else "allowed"


def call_another_abi(_: None) -> int:
    """getpid of x32: the same processor, other numbers."""
    return libc.syscall(0x40000000 | 39)


def use_the_network(_: None) -> dict[str, str]:
    families = {
        "tcp": (socket.AF_INET, socket.SOCK_STREAM),
        "tcp6": (socket.AF_INET6, socket.SOCK_STREAM),
        "udp": (socket.AF_INET, socket.SOCK_DGRAM),
        "unix": (socket.AF_UNIX, socket.SOCK_STREAM),
        "netlink": (socket.AF_NETLINK, socket.SOCK_RAW),
        "raw": (socket.AF_PACKET, socket.SOCK_RAW),
    }
    outcomes = {name: _attempt(lambda kind=kind: socket.socket(*kind)) for name, kind in families.items()}
    return outcomes | {"pair": _attempt(socket.socketpair)}


def use_other_files(arguments: dict[str, str]) -> dict[str, str]:
    """Read, write and list what is not this job's."""
    secret, parent = arguments["secret"], os.getppid()
    reads = {
        "passwd": "/etc/passwd",
        "shadow": "/etc/shadow",
        "secret": secret,
        "secret by its relative path": f"{'../' * 12}{secret.lstrip('/')}",
        "environment of the parent": f"/proc/{parent}/environ",
        "memory of the parent": f"/proc/{parent}/mem",
        "own environment": "/proc/self/environ",
        "random device": "/dev/urandom",
        "library": ctypes.__file__,
        "another job": arguments["other_job"],
    }
    outcomes = {f"read {name}": _attempt(Path(path).read_bytes) for name, path in reads.items()}
    for name, path in {
        "elsewhere": arguments["elsewhere"],
        "above": "../written",
        "here": "written",
        "in": "in/written",
        "the source": SOURCE,
        "the machine's temporary folder": "/var/tmp/written",  # noqa: S108 - not this job's
        "a folder": f"{OUT}/folder/written",
    }.items():
        outcomes[f"write {name}"] = _attempt(lambda path=path: Path(path).write_text("x"))
    return outcomes | {
        "list above": _attempt(lambda: os.listdir("..")),  # noqa: PTH208 - as a library would
        "list jobs": _attempt(lambda: os.listdir(str(Path(arguments["other_job"]).parent.parent))),  # noqa: PTH208 - as above
        "list proc": _attempt(lambda: os.listdir("/proc")),  # noqa: PTH208 - as above
        "remove the source": _attempt(Path(SOURCE).unlink),
        "rename the source": _attempt(lambda: Path(SOURCE).rename(f"{OUT}/mine")),
        "make a symbolic link": _attempt(lambda: Path(OUT, "link").symlink_to(secret)),
        "make a hard link": _attempt(lambda: Path(OUT, "hard").hardlink_to(SOURCE)),
        "make a pipe": _attempt(lambda: os.mkfifo(f"{OUT}/pipe")),
        "make a folder": _attempt(lambda: Path(OUT, "folder").mkdir()),
        "change directory": _attempt(lambda: os.chdir("..")),
    }


def use_own_files(_: None) -> dict[str, str]:
    return {
        "read the source": Path(SOURCE).read_text(),
        "write": _attempt(lambda: Path(OUT, "made").write_text("x")),
        "append": _attempt(lambda: Path(OUT, "made").open("a").close()),
        "rename": _attempt(lambda: Path(OUT, "made").rename(f"{OUT}/kept")),
    }


def disturb_processes(_: None) -> dict[str, str]:
    parent = os.getppid()
    return {
        "signal the parent": _attempt(lambda: os.kill(parent, 0)),
        "kill the parent": _attempt(lambda: os.kill(parent, 9)),
        "kill everybody": _attempt(lambda: os.kill(-1, 9)),
        "start a program": _attempt(lambda: subprocess.run(["/bin/true"], check=True)),
        "fork": _attempt(os.fork),
        "outlive the parent": _attempt(_forget_death_signal),
        "raise a limit": _attempt(lambda: _raise_limit(resource.RLIMIT_AS)),
        "raise open files": _attempt(lambda: _raise_limit(resource.RLIMIT_NOFILE)),
        "limits of the parent": _attempt(lambda: resource.prlimit(parent, resource.RLIMIT_NOFILE, (1, 1))),
        "executable memory": _attempt(lambda: mmap.mmap(-1, 4096, prot=mmap.PROT_WRITE | mmap.PROT_EXEC)),
        "become root": _attempt(lambda: os.setuid(0)),
    }


def start_threads_without_end(_: None) -> int:
    """Start threads until there are no more; returns how many there were."""
    waiting, count = threading.Event(), 0
    threading.stack_size(64 * 1024)
    try:
        while count < 20_000:
            threading.Thread(target=waiting.wait, daemon=True).start()
            count += 1
    except RuntimeError:
        pass
    return count


def tell_account(_: None) -> dict[str, int]:
    return {"uid": os.getuid(), "euid": os.geteuid(), "gid": os.getgid(), "egid": os.getegid()}


def write_many_files(_: None) -> None:
    """Fill the disk with files that are each within the limit."""
    for number in range(1_000_000):
        Path(OUT, str(number)).write_bytes(bytes(1 << 20))


def leave_many_files(_: None) -> None:
    for number in range(300):
        Path(OUT, str(number)).touch()


def load_a_module(name: str) -> str:
    return _attempt(lambda: __import__(name))


def _forget_death_signal() -> None:
    if libc.prctl(1, 0, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def _raise_limit(kind: int) -> None:
    _, hard = resource.getrlimit(kind)
    resource.setrlimit(kind, (hard + 1, hard + 1))


def _attempt(action: Callable[[], Any]) -> str:
    try:
        action()
    except (OSError, ValueError, ImportError) as error:
        return f"{type(error).__name__}: {error}"
    return "allowed"
