"""Cleans up after a supervisor that was killed: stops processes that are provably ours, and nothing else.

Normally nothing is left: the kernel signals our children when we die. This handles the rest: children that
hang, grandchildren, and databases that take a while to shut down.
"""

import signal
from collections.abc import Callable

from tintype.stack.data_directory import DataDirectory
from tintype.stack.processes import Identity, end, find_marked, find_working_in, is_alive, send, wait_gone
from tintype.stack.state import ProcessState, State, read_state

_TIMEOUT_S = 5.0
_DATABASE_TIMEOUT_S = 20.0


async def recover(home: DataDirectory, log: Callable[[str], None]) -> int:
    """Stop every process that an earlier run left in this data directory; returns how many there were.

    Call it with the lock held: then every process found belongs to a supervisor that is gone.
    """
    recorded = _recorded(read_state(home))
    marked = [each for each in [*find_marked(home.mark), *_unfinished_initdb(home)] if each not in recorded]
    if not recorded and not marked:
        return 0
    count = len(recorded) + len(marked)
    log(f"an earlier run ended without cleaning up; stopping what is left of it: {count} processes")
    for identity, process in recorded.items():
        send(identity, signal.Signals(process.stop_signal))
    databases = [each for each, process in recorded.items() if process.stop_signal == signal.SIGINT]
    others = [each for each in recorded if each not in databases]
    await end([*others, *marked], (signal.SIGTERM, _TIMEOUT_S), (signal.SIGKILL, 2.0))
    slow = await wait_gone(databases, _DATABASE_TIMEOUT_S)
    await end(slow, (signal.SIGQUIT, 5.0), (signal.SIGKILL, 2.0))
    return count


def _recorded(state: State | None) -> dict[Identity, ProcessState]:
    if state is None:
        return {}
    found = {each.identity: each for each in state.processes if each.identity is not None}
    return {identity: process for identity, process in found.items() if is_alive(identity)}


def _unfinished_initdb(home: DataDirectory) -> list[Identity]:
    """Running initdb processes: the library starts them, so they carry no marker."""
    folders = [home.postgres(number) for number in range(1, home.count_postgres() + 1)]
    return [each for folder in folders for each in find_working_in(folder, "initdb")]
