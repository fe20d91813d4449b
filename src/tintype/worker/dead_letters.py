"""Dead letters: jobs that used up their attempts, stored with the error for an operator to list, inspect and replay."""

from datetime import datetime
from typing import cast

import msgspec
from nats.aio.msg import Msg
from nats.js import JetStreamContext
from nats.js.api import RawStreamMsg
from nats.js.errors import NotFoundError as NoSuchMessage  # or no such stream

from tintype.base.errors import NotFound
from tintype.base.nats import NatsNames
from tintype.worker.deliveries import ATTEMPTS, headers_of, stream_sequence

HANDLER, EVENT, ERROR = "Tintype-Handler", "Tintype-Event", "Tintype-Error"
MAX_ERROR_CHARS = 500


class DeadLetterNotFound(NotFound):
    """There is no dead letter with that number; `tintype dead list` shows the ones that exist."""

    code = "dead_letter_not_found"


class DeadLetter(msgspec.Struct, frozen=True):
    """One job that failed in all its attempts."""

    number: int
    handler: str
    event: str
    attempts: int
    error: str
    died_at: datetime | None
    payload: str


class DeadLetters:
    """The dead-letter stream of one installation."""

    def __init__(self, js: JetStreamContext, names: NatsNames) -> None:
        self._js, self._names = js, names

    async def add(self, message: Msg, *, handler: str, event: str, error: str, attempts: int) -> None:
        """Store a copy of a failed job; adding the same one twice stores one."""
        one_line = " ".join(error.split())[:MAX_ERROR_CHARS]  # a header cannot hold a line break
        headers = {
            "Nats-Msg-Id": f"{handler}:{stream_sequence(message)}",
            HANDLER: handler,
            EVENT: event,
            ERROR: one_line.encode("ascii", "replace").decode(),
            ATTEMPTS: str(attempts),
            "Request-Id": headers_of(message).get("Request-Id", ""),
        }
        await self._js.publish(self._names.dead(handler), message.data, headers=headers, timeout=5)

    async def list(self, *, limit: int = 100, after: int = 0) -> list[DeadLetter]:
        """Dead letters in order of number, starting after the given one."""
        try:
            state = (await self._js.stream_info(self._names.dead_stream)).state
        except NoSuchMessage:
            return []  # no worker has ever run on this installation
        found: list[DeadLetter] = []
        for number in range(max(state.first_seq, after + 1), state.last_seq + 1):
            letter = await self._find(number)
            if letter:
                found.append(letter)
            if len(found) == limit:
                break
        return found

    async def get(self, number: int) -> DeadLetter:
        """The dead letter with this number, or `DeadLetterNotFound`."""
        letter = await self._find(number)
        if letter is None:
            raise DeadLetterNotFound
        return letter

    async def replay(self, number: int) -> DeadLetter:
        """Send a dead letter to its handler again, with all its attempts, and delete it here."""
        letter = await self.get(number)
        headers = {EVENT: letter.event, "Nats-Msg-Id": f"replay:{letter.handler}:{number}"}
        subject = self._names.retry(letter.handler)
        await self._js.publish(subject, letter.payload.encode(), headers=headers, timeout=5)
        await self.delete(number)
        return letter

    async def delete(self, number: int) -> None:
        """Delete a dead letter for good."""
        await self._js.delete_msg(self._names.dead_stream, number)

    async def _find(self, number: int) -> DeadLetter | None:
        try:
            return _parse(await self._js.get_msg(self._names.dead_stream, number))
        except NoSuchMessage:
            return None


def _parse(raw: RawStreamMsg) -> DeadLetter:
    headers = cast("dict[str, str]", raw.headers or {})
    return DeadLetter(
        number=raw.seq or 0,
        handler=headers.get(HANDLER, ""),
        event=headers.get(EVENT, ""),
        attempts=int(headers.get(ATTEMPTS, "0")),
        error=headers.get(ERROR, ""),
        died_at=raw.time if isinstance(raw.time, datetime) else None,
        payload=(raw.data or b"").decode(errors="replace"),
    )
