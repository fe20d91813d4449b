"""Settings of the embedded PostgreSQL servers that follow from the machine and from what runs on it.

The server reserves memory for every connection and lock that it allows, and touches half of it at its start: with the
200 connections and 1,024 locks each of a server that stands alone that is 40 MB.
"""

from collections.abc import Mapping

from tintype.stack.machine import Machine, ProcessCounts

_MIB = 1024**2
_SMALL_BYTES, _LARGE_BYTES = 3 * 1024 * _MIB, 32 * 1024 * _MIB
_SHARE_OF_MEMORY = 64
_MIN_BUFFERS, _MAX_BUFFERS = 64 * _MIB, 8192 * _MIB
_MIN_REPLICA_BUFFERS = 32 * _MIB
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


def replica_settings(primary: Mapping[str, str], machine: Machine) -> dict[str, str]:
    """Settings of an embedded replica, which serves reads alone.

    It must allow as many connections and locks as its primary. The rest is smaller: what it reads is in the file cache
    of the machine already, it neither vacuums nor moves shards, and it applies all changes in one process.
    """
    buffers = _MIN_REPLICA_BUFFERS if machine.memory_bytes < _LARGE_BYTES else _choose_buffers(machine) // 2
    return {
        **primary,
        "shared_buffers": f"{buffers // _MIB}MB",
        "max_logical_replication_workers": "0",
        # Rows that a statement here still reads are not vacuumed at the primary: it would be cancelled otherwise.
        "hot_standby_feedback": "on",
        # A statement that holds a lock which the primary's DDL needs is cancelled after this; until then nothing is
        # replayed, and this replica lags behind.
        "max_standby_streaming_delay": "2s",
        "max_standby_archive_delay": "2s",
        "wal_retrieve_retry_interval": "500ms",
        "wal_receiver_status_interval": "1s",
    }


def _choose_buffers(machine: Machine) -> int:
    """PostgreSQL's own cache. The file cache of the system does as well, and yields when memory is short."""
    if machine.memory_bytes < _LARGE_BYTES:
        return _MIN_BUFFERS
    return min(machine.memory_bytes // _SHARE_OF_MEMORY, _MAX_BUFFERS)


def _count_connections(counts: ProcessCounts, connections: int) -> int:
    """As many as wiring.py lets a process open, spare ones included, and those that watch the map and the outbox."""
    each = connections + max(1, connections // 4) + max(1, connections // 8) + 3
    return (counts.web + counts.workers) * each + _OTHER_CONNECTIONS
