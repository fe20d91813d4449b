"""Settings of the embedded PostgreSQL servers that follow from the machine and from what runs on it.

The server reserves memory for every connection and lock that it allows, and touches half of it at its start: with the
200 connections and 1,024 locks each of a server that stands alone that is 40 MB.
"""

from tintype.stack.machine import Machine, ProcessCounts

_MIB = 1024**2
_SMALL_BYTES, _LARGE_BYTES = 3 * 1024 * _MIB, 32 * 1024 * _MIB
_SHARE_OF_MEMORY = 64
_MIN_BUFFERS, _MAX_BUFFERS = 64 * _MIB, 8192 * _MIB
_OTHER_CONNECTIONS = 40
"""Migrations, `tintype` commands, dumps, a process that is being replaced."""
_MIN_LOCKS = 256
_LOCKS_PER_SHARD = 2


def postgres_settings(
    machine: Machine, counts: ProcessCounts, *, connections: int, shard_count: int
) -> dict[str, str]:
    """Settings of one server, to which every process opens about so many connections."""
    return {
        "shared_buffers": f"{_choose_buffers(machine) // _MIB}MB",
        "max_connections": str(_count_connections(counts, connections)),
        # Times the connections: enough for a dump, which locks the seventy tables of every shard.
        "max_locks_per_transaction": str(max(_MIN_LOCKS, _LOCKS_PER_SHARD * shard_count)),
        "autovacuum_max_workers": "3" if machine.cores > 2 else "2",  # noqa: PLR2004 - of two cores one serves people
        "autovacuum_work_mem": "32MB" if machine.memory_bytes < _SMALL_BYTES else "-1",
        "max_parallel_workers_per_gather": "2" if machine.cores > 2 else "0",  # noqa: PLR2004 - likewise
        "effective_cache_size": f"{max(machine.memory_bytes // 2, 512 * _MIB) // _MIB}MB",
        "jit": "off",  # statements are short, and a backend that compiles keeps the compiler loaded
    }


def _choose_buffers(machine: Machine) -> int:
    """PostgreSQL's own cache. The file cache of the system does as well, and yields when memory is short."""
    if machine.memory_bytes < _LARGE_BYTES:
        return _MIN_BUFFERS
    return min(machine.memory_bytes // _SHARE_OF_MEMORY, _MAX_BUFFERS)


def _count_connections(counts: ProcessCounts, connections: int) -> int:
    """A router opens a third more than its number when it must; each process also watches the map or the outbox."""
    each = connections + connections // 2 + 4
    return (counts.web + counts.workers) * each + _OTHER_CONNECTIONS
