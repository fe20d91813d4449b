"""Errors of starting and stopping the stack; each message says what to do next."""

from tintype.base.errors import Conflict, Invalid, Unavailable


class AlreadyRunning(Conflict):
    """Another `tintype up` is already running in that data directory."""

    code = "stack_already_running"


class PortTaken(Conflict):
    """Another program is listening on the port you chose."""

    code = "port_taken"


class EngineMissing(Unavailable):
    """A server program that should come with the installation is missing."""

    code = "engine_missing"


class EngineUnreachable(Unavailable):
    """An existing server named in the settings does not answer."""

    code = "engine_unreachable"


class StartFailed(Unavailable):
    """A server or process could not be started."""

    code = "start_failed"


class DataDirectoryUnusable(Invalid):
    """The data directory cannot be used as it is."""

    code = "home_unusable"


class StopFailed(Unavailable):
    """The stack did not stop in time."""

    code = "stop_failed"
