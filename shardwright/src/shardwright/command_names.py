"""How commands are called: `shardwright move`, or `tintype shards move` where a host application has them as its own.

Errors and advice name commands as `shardwright` has them, wherever in the library they come from. What shows them to
the operator replaces that by the words by which the operator called the command.
"""

import re
from contextvars import ContextVar

OWN = "shardwright"
COMMANDS = (
    "add-replica",
    "add-server",
    "adopt",
    "doctor",
    "drain",
    "ids",
    "init",
    "install",
    "lint",
    "local",
    "migrate",
    "move",
    "rebalance",
    "remove-replica",
    "remove-server",
    "roles",
    "schema",
    "set-server",
    "split",
    "sql",
    "status",
    "tickets",
    "upgrade",
    "version",
    "widen",
)
_COMMAND = re.compile(rf"\b{OWN} (?=(?:{'|'.join(COMMANDS)})\b)")
_called: ContextVar[str] = ContextVar("shardwright_command", default=OWN)


def call_commands(name: str) -> None:
    """Have the rest of this command's run call commands so: `shardwright`, or the words that the host has for it."""
    _called.set(name)


def as_called(text: str, name: str | None = None) -> str:
    """The text with each command as the operator would call it, or as this host would."""
    return _COMMAND.sub(f"{name or _called.get()} ", text)
