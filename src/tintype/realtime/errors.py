"""Errors of the realtime room."""

from tintype.base.errors import Forbidden, Invalid, NotFound, SettingsInvalid


class RealtimeOff(NotFound):
    """Live connections are turned off on this site."""

    code = "realtime_off"


class ConnectRefused(Forbidden):
    """That connection is refused: its token or client id is not valid."""

    code = "connect_refused"


class CommandInvalid(Invalid):
    """A command is a JSON object with an id of at most 64 characters, a kind and a payload."""

    code = "command_invalid"


class CommandUnknown(NotFound):
    """There is no command of that kind."""

    code = "command_unknown"


class CalloutMissing(SettingsInvalid):
    """NATS does not ask Tintype who may connect. Configure it as docs/operating.md, "Real time", says."""

    code = "callout_missing"
