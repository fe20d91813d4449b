"""Memory of processes: shared pages are divided, descendants are counted, the dead count nothing."""

import mmap
import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from tintype.stack import MemoryUse, command_of, memory_of, memory_of_tree, sum_of, tree

_MIB = 1024 * 1024
_HOLDER = """\
import os, sys
held = bytearray(os.urandom(1)) * (int(sys.argv[1]) << 20)
os.fork()
os.write(1, b"ready\\n")  # in one call: both write
sys.stdin.read()
"""


@pytest.fixture
def parent() -> Iterator["subprocess.Popen[str]"]:
    """A process with 64 MiB, and a child that shares them."""
    process = subprocess.Popen(
        [sys.executable, "-c", _HOLDER, "64"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    for _ in range(2):
        assert process.stdout.readline() == "ready\n"
    yield process
    process.communicate("")


def test_pages_that_two_processes_share_are_counted_once(parent: "subprocess.Popen[str]") -> None:
    one, both = memory_of(parent.pid), memory_of_tree(parent.pid)

    assert one is not None
    assert 32 * _MIB < one.proportional_bytes < 60 * _MIB
    assert one.private_bytes < 32 * _MIB
    assert 64 * _MIB < both.proportional_bytes < 110 * _MIB
    assert both.processes == 2


def test_a_tree_is_a_process_and_its_descendants(parent: "subprocess.Popen[str]") -> None:
    assert parent.pid in tree(os.getpid())
    assert len(tree(parent.pid)) == 2
    assert all("held = bytearray" in command_of(pid) for pid in tree(parent.pid))


def test_memory_that_is_allocated_shows() -> None:
    before = memory_of(os.getpid())
    with mmap.mmap(-1, 32 * _MIB, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as held:
        held.write(b"x" * 32 * _MIB)
        after = memory_of(os.getpid())

    assert before is not None
    assert after is not None
    assert after.private_bytes - before.private_bytes > 24 * _MIB


def test_a_process_that_is_gone_has_no_memory() -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()

    assert memory_of(gone.pid) is None
    assert sum_of([gone.pid]) == MemoryUse()
    assert command_of(gone.pid) == ""
