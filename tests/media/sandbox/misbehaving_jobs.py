"""Jobs that do what jobs must not."""

import os
import signal
import time
from pathlib import Path
from typing import Any

from tintype.media.errors import MediaAnimated
from tintype.media.sandbox import OUT, PROGRESS, TEMPORARY


def echo(arguments: dict[str, Any]) -> dict[str, Any]:
    return arguments


def tell_surroundings(_: None) -> dict[str, Any]:
    return {
        "environment": dict(os.environ),
        "open_files": len([fd for fd in range(64) if _is_open(fd)]),
        "files": [str(path) for folder in ("in", OUT, TEMPORARY) for path in Path(folder).iterdir()],
        "pid": os.getpid(),
        "parent": os.getppid(),
    }


def _is_open(fd: int) -> bool:
    try:
        os.fstat(fd)
    except OSError:
        return False
    return True


def sleep(_: None) -> None:
    Path(OUT, "of_a_sleeper").touch()
    os.write(PROGRESS, str(os.getpid()).encode())
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


def fill_disk(_: None) -> None:
    Path(OUT, "beside").touch()
    with Path(OUT, "large").open("wb") as file:
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
