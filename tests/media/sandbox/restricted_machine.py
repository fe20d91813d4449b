"""A machine that lacks some of the sandbox's walls, as containers and old kernels do: prints what comes of a photo.

The kernel itself is told to refuse the calls, by a seccomp filter around this process and those it starts.
Arguments: the refused calls, the setting `media_sandbox_walls`, a photo and a folder for its sizes.
"""

import asyncio
import ctypes
import platform
import struct
import sys
from pathlib import Path

import msgspec

from tintype.base.errors import TintypeError
from tintype.media.photos import make_photo_in_sandbox
from tintype.media.sandbox import RequiredWalls, SandboxOptions, check_walls, configure_sandbox
from tintype.media.sandbox.limits import control_process
from tintype.media.sandbox.seccomp import ALLOW, FAIL, IF_EQUAL, LOAD, RETURN

NUMBERS = {  # x86-64, arm64
    "landlock_create_ruleset": (444, 444),
    "chroot": (161, 51),
    "unshare": (272, 97),
    "setresuid": (117, 147),
    "capset": (126, 91),
}
PRCTL = (157, 167)
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP = 38, 22


def refuse(names: list[str]) -> None:
    column = {"x86_64": 0, "aarch64": 1}[platform.machine()]
    lines = [struct.pack("HBBI", LOAD, 0, 0, 0)]
    for name in names:
        if name != "seccomp":
            lines += [
                struct.pack("HBBI", IF_EQUAL, 0, 1, NUMBERS[name][column]),
                struct.pack("HBBI", RETURN, 0, 0, FAIL | 1),
            ]
    if "seccomp" in names:
        lines += [
            struct.pack("HBBI", IF_EQUAL, 0, 3, PRCTL[column]),
            struct.pack("HBBI", LOAD, 0, 0, 16),
            struct.pack("HBBI", IF_EQUAL, 0, 1, PR_SET_SECCOMP),
            struct.pack("HBBI", RETURN, 0, 0, FAIL | 22),
        ]
    lines.append(struct.pack("HBBI", RETURN, 0, 0, ALLOW))
    program = b"".join(lines)
    held = ctypes.create_string_buffer(program, len(program))
    header = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(lines), ctypes.addressof(held)), 16)
    control_process(PR_SET_NO_NEW_PRIVS, 1)
    control_process(PR_SET_SECCOMP, 2, ctypes.addressof(header))


async def main(required: RequiredWalls, source: Path, out: Path) -> None:
    configure_sandbox(SandboxOptions(required_walls=required))
    missing = {wall.name: wall.is_essential for wall in check_walls() if not wall.is_up}
    try:
        outcome = str((await make_photo_in_sandbox(source, out)).width)
    except TintypeError as error:
        outcome = error.code
    sys.stdout.write(msgspec.json.encode({"missing": missing, "outcome": outcome}).decode() + "\n")


if __name__ == "__main__":
    refuse(msgspec.json.decode(sys.argv[1], type=list[str]))
    asyncio.run(main(msgspec.convert(sys.argv[2], RequiredWalls), Path(sys.argv[3]), Path(sys.argv[4])))
