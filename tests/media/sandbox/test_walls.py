"""Which walls stand is known, and a missing one refuses work as the settings say."""

import asyncio
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.media.photos import sample_photos
from tintype.media.sandbox import JOBS, Wall, check_walls, missing_walls
from tintype.media.sandbox.job_folders import JobFolder, OutputRefused
from tintype.media.sandbox.landlock import find_version
from tintype.media.sandbox.syscalls import NAMES

pytestmark = pytest.mark.slow

HEADERS = {
    0: Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
    1: Path("/usr/include/asm-generic/unistd.h"),
}


def test_every_wall_says_whether_it_stands() -> None:
    walls = {wall.name: wall for wall in check_walls()}

    assert set(walls) == {
        "account",
        "limits",
        "network",
        "paths",
        "privileges",
        "root directory",
        "system calls",
    }
    assert missing_walls(list(walls.values()), "essential") == []
    assert all(wall.is_up or (wall.why_not and wall.fix) for wall in walls.values())
    assert walls["paths"].is_up == (find_version() > 0)


def test_the_setting_says_which_walls_must_stand() -> None:
    essential = Wall(name="system calls", is_up=False, is_essential=True)
    further = Wall(name="network", is_up=False, is_essential=False)
    standing = Wall(name="limits", is_up=True, is_essential=True)
    walls = [essential, further, standing]

    assert missing_walls(walls, "all") == [essential, further]
    assert missing_walls(walls, "essential") == [essential]
    assert missing_walls(walls, "none") == []


def run_on_machine_without(calls: list[str], required: str, tmp_path: Path) -> dict[str, Any]:
    (source := tmp_path / "source").write_bytes(sample_photos.encode(sample_photos.landscape(1200, 900)))
    (out := tmp_path / "out").mkdir()
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "tests.media.sandbox.restricted_machine",
            msgspec.json.encode(calls).decode(),
            required,
            str(source),
            str(out),
        ],
        env=os.environ | {"PYTHONPATH": os.pathsep.join([*sys.path, str(Path.cwd())])},
        capture_output=True,
        check=True,
    )
    return msgspec.json.decode(done.stdout.splitlines()[-1])


@pytest.mark.parametrize(
    ("calls", "required", "missing", "outcome"),
    [
        ([], "all", {}, "1080"),
        (["unshare"], "essential", {"network": False}, "1080"),
        (["unshare"], "all", {"network": False}, "media_unavailable"),
        (["landlock_create_ruleset"], "essential", {"paths": False}, "1080"),
        (["chroot"], "essential", {"root directory": False}, "1080"),
        (
            ["landlock_create_ruleset", "chroot"],
            "essential",
            {"paths": True, "root directory": True},
            "media_unavailable",
        ),
        (["seccomp"], "essential", {"system calls": True}, "media_unavailable"),
        (["setresuid"], "essential", {"account": True}, "media_unavailable"),
        (["capset"], "essential", {"privileges": True}, "media_unavailable"),
        (["seccomp", "landlock_create_ruleset"], "none", {"system calls": True, "paths": False}, "1080"),
    ],
)
async def test_without_a_wall_photos_are_processed_or_not_as_the_setting_says(
    tmp_path: Path, calls: list[str], required: str, missing: dict[str, bool], outcome: str
) -> None:
    if os.geteuid() != 0:
        if "setresuid" in calls:
            pytest.skip("not applicable: an ordinary user has no root to drop")
        if "unshare" in calls:  # a user namespace is what lets an ordinary user change the root directory
            missing = missing | {"root directory": False}

    found = await asyncio.to_thread(run_on_machine_without, calls, required, tmp_path)

    assert found == {"missing": missing, "outcome": outcome}


def test_root_of_a_namespace_without_other_ids_is_root_only_if_it_is_root_outside() -> None:
    probe = [sys.executable, "-m", "tintype.media.sandbox.wall_probe"]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    if subprocess.run(["unshare", "--map-root-user", "true"], check=False).returncode:  # noqa: S607 - by its name, as people do
        pytest.skip("not applicable: this machine allows no user namespaces")

    done = subprocess.run(
        ["unshare", "--map-root-user", *probe],  # noqa: S607 - as above
        env=environment,
        capture_output=True,
        check=True,
    )

    walls = {wall.name: wall for wall in msgspec.json.decode(done.stdout, type=list[Wall])}
    assert walls["account"].is_up == (os.geteuid() != 0)
    assert walls["account"].is_essential
    assert walls["system calls"].is_up


@pytest.mark.parametrize("column", [0, 1], ids=["x86-64", "arm64"])
def test_the_numbers_of_system_calls_are_the_kernels(column: int) -> None:
    if not HEADERS[column].exists():
        pytest.skip("not applicable: the kernel's headers are not installed")
    lines = re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)", HEADERS[column].read_text())
    kernel = {name: int(number) for name, number in lines}

    ours = {name: numbers[column] for name, numbers in NAMES.items() if numbers[column] >= 0}

    assert {name: number for name, number in ours.items() if name in kernel} == {
        name: kernel[name] for name in ours if name in kernel
    }
    assert set(ours) - set(kernel) <= {"newfstatat", "futex_waitv"}


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="not applicable: only x86-64 runs i386 calls")
def test_a_call_of_i386_kills_the_process() -> None:
    code = (
        "import ctypes, mmap, sys\n"
        "from tintype.media.sandbox.limits import control_process\n"
        "from tintype.media.sandbox.seccomp import filter_system_calls\n"
        "page = mmap.mmap(-1, 4096, prot=7)\n"
        "page.write(bytes.fromhex('b814000000cd80c3'))\n"  # mov eax, 20 (getpid); int 0x80; ret
        "call = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))\n"
        "if call() < 0: sys.exit(3)\n"
        "control_process(38, 1)\n"
        "filter_system_calls()\n"
        "call()\n"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}

    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, check=False)

    if done.returncode in {3, -signal.SIGSEGV}:
        pytest.skip("not applicable: this kernel has no i386 calls")
    assert done.returncode == -signal.SIGSYS


def test_only_plain_files_are_taken_from_a_job(tmp_path: Path) -> None:
    (jobs := tmp_path / "jobs").mkdir()
    (into := tmp_path / "into").mkdir()
    secret = tmp_path / "secret"
    secret.write_text("secret")
    leave: list[Callable[[Path], None]] = [
        lambda path: path.symlink_to(secret),
        lambda path: path.symlink_to(tmp_path / "nothing"),
        lambda path: path.hardlink_to(secret),
        os.mkfifo,
        lambda path: path.mkdir(),
    ]
    for make in leave:
        folder = JobFolder(str(jobs), None)
        (folder.path / "out" / "0.jpg").write_text("fine")
        make(folder.path / "out" / "1.jpg")

        with pytest.raises(OutputRefused):
            folder.move_outputs({"out": str(into)})
        folder.remove()

    assert list(into.iterdir()) == []
    assert secret.read_text() == "secret"


def test_every_job_has_limits_on_memory_time_and_disk() -> None:
    for job in JOBS.values():
        assert 0 < job.limits.memory_bytes <= 4 << 30
        assert 0 < job.limits.cpu_s <= 900
        assert 0 < job.limits.file_bytes <= job.limits.folder_bytes
