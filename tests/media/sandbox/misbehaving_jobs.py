"""Jobs that do what jobs must not."""

import os
import signal
import socket
import subprocess
import time
from pathlib import Path
from typing import Any

from tintype.media.errors import MediaAnimated


def echo(arguments: dict[str, Any]) -> dict[str, Any]:
    return arguments


def tell_surroundings(_: None) -> dict[str, Any]:
    return {
        "environment": dict(os.environ),
        "open_files": len([fd for fd in range(64) if _is_open(fd)]),
        "folder": str(Path.cwd()),
        "pid": os.getpid(),
        "parent": os.getppid(),
    }


def _is_open(fd: int) -> bool:
    try:
        os.fstat(fd)
    except OSError:
        return False
    return True


def sleep(marker: str) -> None:
    Path(marker).write_text(str(os.getpid()))
    time.sleep(600)


def spin(_: None) -> None:
    while True:
        pass


def crash(number: int) -> None:
    if number != signal.SIGKILL:
        signal.signal(number, signal.SIG_DFL)
    signal.raise_signal(signal.Signals(number))


def overrun_memory(how_much: int) -> int:
    return len(bytearray(how_much))


def fill_disk(path: str) -> None:
    with Path(path).open("wb") as file:
        while True:
            file.write(bytes(1 << 20))


def refuse(_: None) -> None:
    raise MediaAnimated(frames=3)


def break_down(_: None) -> None:
    raise RuntimeError("secret")


def talk_nonsense(_: None) -> None:
    for fd in range(3, 64):
        if _is_open(fd):
            os.write(fd, b"\xff" * 1000 + b"END\n" * 20)
    os._exit(0)


def try_to_escape(arguments: dict[str, str]) -> dict[str, str]:
    """Try what must be forbidden; return the outcome of each attempt."""
    return {
        "socket": _attempt(lambda: socket.socket(socket.AF_INET)),
        "unix socket": _attempt(lambda: socket.socket(socket.AF_UNIX)),
        "program": _attempt(lambda: subprocess.run(["/bin/true"], check=True)),
        "process": _attempt(os.fork),
        "signal": _attempt(lambda: os.kill(os.getppid(), 0)),
        "read elsewhere": _attempt(lambda: Path(arguments["secret"]).read_text()),
        "write elsewhere": _attempt(lambda: Path(arguments["elsewhere"]).write_text("x")),
        "read given": _attempt(lambda: Path(arguments["given"]).read_text()),
        "write given": _attempt(lambda: Path(arguments["out"], "made").write_text("x")),
        "write temporary": _attempt(lambda: Path("made").write_text("x")),
    }


def _attempt(action: Any) -> str:
    try:
        action()
    except OSError as error:
        return type(error).__name__
    return "allowed"
