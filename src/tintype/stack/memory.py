"""How much memory there is to share: the machine's, or less where a container grants less."""

from pathlib import Path

_LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))


def total_bytes() -> int:
    """What all programs together may use."""
    return min([_read("MemTotal"), *_granted()])


def available_bytes() -> int:
    """What could be taken without pushing others out."""
    return min([_read("MemAvailable"), *_granted()])


def _granted() -> list[int]:
    """The container's limit; a control group without one says `max` or an absurdly large number."""
    texts = [path.read_text().strip() for path in _LIMITS if path.exists()]
    return [int(text) for text in texts if text.isdecimal()]


def _read(name: str) -> int:
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    return 0
