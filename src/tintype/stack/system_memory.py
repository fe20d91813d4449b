"""Memory limits: the machine's memory, or the container's limit where that is lower."""

from pathlib import Path

_LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))


def total_bytes() -> int:
    """Memory that all programs together may use."""
    return min([_read_meminfo("MemTotal"), *_container_limits()])


def available_bytes() -> int:
    """Memory that can be allocated without swapping."""
    return min([_read_meminfo("MemAvailable"), *_container_limits()])


def _container_limits() -> list[int]:
    """The cgroup's limit; a cgroup without one says `max` or a very large number."""
    texts = [path.read_text().strip() for path in _LIMITS if path.exists()]
    return [int(text) for text in texts if text.isdecimal()]


def _read_meminfo(name: str) -> int:
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    return 0
