"""Commands of devices, published on `/u/{account}/commands`, and the registry of what carries them out.

A command has an id that the device made and keeps: repeating it has the effect once, and the same answer. That is the
handlers' duty, as it is over HTTP with an idempotency key. The answer on `/u/{account}/replies` is the acknowledgement:
it is sent after the effect is committed. A PUBACK only says that the broker holds the command. Commands that are under
way at the same time may be carried out in any order: a device that cares sends the next one after the answer.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated, Any

import msgspec

from tintype.base.errors import TintypeError
from tintype.base.ids import AccountId
from tintype.realtime.errors import CommandInvalid, CommandUnknown

MAX_ID_LENGTH = 64


class Command(msgspec.Struct, frozen=True):
    """What a device asks for, and who it is."""

    account_id: AccountId
    id: str
    """Made by the device; with the account, the key by which a repetition is recognised."""
    kind: str
    payload: dict[str, Any]


class SentCommand(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A command as a device sends it."""

    id: Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_ID_LENGTH)]
    kind: Annotated[str, msgspec.Meta(min_length=1, max_length=50)]
    payload: dict[str, Any] = {}


class CommandError(msgspec.Struct, frozen=True):
    """Why a command was refused: the code and the sentence that HTTP would answer with."""

    code: str
    detail: str


class Reply(msgspec.Struct, frozen=True, omit_defaults=True):
    """The answer to a command: what came of it, or why it was refused."""

    id: str
    result: dict[str, Any] | None = None
    error: CommandError | None = None


CommandHandler = Callable[[Command], Awaitable[dict[str, Any]]]
"""Carries a command out, however often it is repeated, and returns what is answered."""


@dataclass(frozen=True)
class RegisteredCommand:
    """A kind of command: what carries it out, and the scope that an API token needs for it."""

    run: CommandHandler
    scope: str | None


class CommandRegistry:
    """The kinds of commands there are."""

    def __init__(self) -> None:
        self._known: dict[str, RegisteredCommand] = {}

    @property
    def kinds(self) -> list[str]:
        """All kinds, sorted."""
        return sorted(self._known)

    @property
    def scopes(self) -> set[str]:
        """The scopes of all kinds; an API token that lacks one of them may publish no command."""
        return {each.scope for each in self._known.values() if each.scope is not None}

    def register(self, kind: str, run: CommandHandler, *, scope: str | None = None) -> None:
        """Commands of this kind are carried out by this function."""
        self._known[kind] = RegisteredCommand(run, scope)

    async def run(self, account_id: AccountId, sent: SentCommand) -> dict[str, Any]:
        """Carry a command out; `CommandUnknown` for a kind that nobody registered."""
        known = self._known.get(sent.kind)
        if known is None:
            raise CommandUnknown
        try:
            return await known.run(Command(account_id, sent.id, sent.kind, sent.payload))
        except msgspec.ValidationError as error:
            raise CommandInvalid(str(error)) from error


def read_command(data: bytes) -> SentCommand:
    """A command from JSON; `CommandInvalid` where it is none."""
    try:
        return msgspec.json.decode(data, type=SentCommand)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise CommandInvalid from error


def read_id(data: bytes) -> str:
    """The id of a command that is not valid, to answer it; empty where it has none."""
    try:
        found: Any = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return ""
    given: Any = found.get("id") if isinstance(found, dict) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] - any JSON
    return given if isinstance(given, str) and len(given) <= MAX_ID_LENGTH else ""


def refusal(command_id: str, error: TintypeError) -> Reply:
    """The answer that says why a command was refused."""
    return Reply(command_id, error=CommandError(error.code, error.detail))
