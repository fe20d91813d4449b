"""Stopping a stack from outside: asks its supervisor, or clears up where there is none any more."""

import enum
import signal

from tintype.stack.errors import StopFailed
from tintype.stack.home import Home
from tintype.stack.processes import Identity, send, wait_gone
from tintype.stack.recovery import recover
from tintype.stack.state import read_running

_PATIENCE_S = 60.0
_HURRY_S = 15.0


class Outcome(enum.StrEnum):
    """What there was to stop."""

    STOPPED = "stopped"
    CLEARED = "cleared"
    """No supervisor, but processes that a killed one had left behind."""
    NOTHING = "nothing"


async def stop_running(home: Home) -> Outcome:
    """Have nothing run in this home."""
    state = read_running(home)
    if state is not None:
        await _stop(state.supervisor)
        return Outcome.STOPPED
    if not home.run.is_dir():
        return Outcome.NOTHING
    with home.locked():
        count = await recover(home, lambda _: None)
        home.state.unlink(missing_ok=True)
    return Outcome.CLEARED if count else Outcome.NOTHING


async def _stop(supervisor: Identity) -> None:
    send(supervisor, signal.SIGTERM)
    if not await wait_gone([supervisor], _PATIENCE_S):
        return
    send(supervisor, signal.SIGTERM)  # the second one hurries
    if await wait_gone([supervisor], _HURRY_S):
        raise StopFailed(f"The supervisor, pid {supervisor.pid}, does not stop; see `tintype logs tintype`.")
