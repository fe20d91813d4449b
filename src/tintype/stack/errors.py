"""The ways the stack says no: each message tells the person at the keyboard what to do next."""

from tintype.base.errors import Conflict, Invalid, Unavailable


class AlreadyRunning(Conflict):
    """Another `tintype up` already runs in that home."""

    code = "stack_already_running"


class PortTaken(Conflict):
    """Another program listens on the port you chose."""

    code = "port_taken"


class EngineMissing(Unavailable):
    """A server program that should come with the installation is not there."""

    code = "engine_missing"


class EngineUnreachable(Unavailable):
    """An existing server named in the settings does not answer."""

    code = "engine_unreachable"


class StartFailed(Unavailable):
    """A server or process could not be started."""

    code = "start_failed"


class HomeUnusable(Invalid):
    """The data directory cannot be used as it is."""

    code = "home_unusable"


class StopFailed(Unavailable):
    """The stack was asked to stop and did not."""

    code = "stop_failed"
