"""Stops a running stack from another process: signals its supervisor, or cleans up when the supervisor is gone."""

import enum
import signal

from tintype.stack.data_directory import DataDirectory
from tintype.stack.errors import StopFailed
from tintype.stack.processes import Identity, send, wait_gone
from tintype.stack.recovery import recover
from tintype.stack.state import read_running

_TIMEOUT_S = 60.0
_FORCED_S = 15.0


class StopOutcome(enum.StrEnum):
    """Whether stopping found a running stack, leftovers of a killed one, or nothing."""

    STOPPED = "stopped"
    CLEARED = "cleared"
    """No supervisor, but processes that a killed one left behind."""
    NOTHING = "nothing"


async def stop_running(home: DataDirectory) -> StopOutcome:
    """Stop everything that runs in this data directory."""
    state = read_running(home)
    if state is not None:
        await _stop(state.supervisor)
        return StopOutcome.STOPPED
    if not home.run.is_dir():
        return StopOutcome.NOTHING
    with home.locked():
        count = await recover(home, lambda _: None)
        home.state.unlink(missing_ok=True)
    return StopOutcome.CLEARED if count else StopOutcome.NOTHING


async def _stop(supervisor: Identity) -> None:
    send(supervisor, signal.SIGTERM)
    if not await wait_gone([supervisor], _TIMEOUT_S):
        return
    send(supervisor, signal.SIGTERM)  # the second one shortens the grace periods
    if await wait_gone([supervisor], _FORCED_S):
        raise StopFailed(f"The supervisor, pid {supervisor.pid}, does not stop; see `tintype logs tintype`.")
