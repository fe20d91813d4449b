"""What tests of accounts do often: open the proof window, read the mails that were sent, age a row."""

import asyncio
import re
from dataclasses import dataclass, field
from email.message import EmailMessage
from typing import Any, cast

from tests.support import PASSWORD, Person
from tintype.accounts import MailWanted, ResetAsked
from tintype.base.events import Event
from tintype.base.ids import AccountId
from tintype.wiring import Rooms

NEW_PASSWORD = "staple the quiet river"


@dataclass
class Mailbox:
    """The outside world's mail: keeps what was handed over."""

    mails: list[EmailMessage] = field(default_factory=list[EmailMessage])
    failures: int = 0

    async def send(self, message: EmailMessage) -> None:
        if self.failures:
            self.failures -= 1
            raise ConnectionRefusedError("the mail server sleeps")
        self.mails.append(message)

    def subjects(self, to: str) -> list[str]:
        return [str(mail["Subject"]) for mail in self.mails if mail["To"] == to]

    def token(self) -> str:
        """The secret of the latest mail that holds one."""
        bodies = [mail.get_body(("plain",)) for mail in self.mails]
        texts = [body.get_content() for body in bodies if body is not None]
        return re.findall(r"#([\w-]+)", "\n".join(texts))[-1]


async def announced(rooms: Rooms, kind: type[Event]) -> list[Any]:
    """The events of one kind in every outbox, in the order they were written."""
    found: list[Any] = []
    for number in rooms.shards.map.owners:
        shard = rooms.shards.shard(number)
        if any(shard.server == rooms.shards.shard(other).server for other in range(number)):
            continue
        async with shard.begin() as tx:
            query = "SELECT payload FROM common.outbox WHERE event = $1 ORDER BY id"
            rows = cast("list[dict[str, bytes]]", await tx.connection.fetch(query, kind.name))
        found += [kind.decode(row["payload"]) for row in rows]
    return found


async def deliver(rooms: Rooms) -> None:
    """Do what the worker does with mails: every event that waits, and once more, as it may happen."""
    for _ in range(2):
        for asked in await announced(rooms, ResetAsked):
            await rooms.credentials.send_password_reset(asked)
    for _ in range(2):
        for wanted in await announced(rooms, MailWanted):
            await rooms.accounts.send_mail(wanted)


async def confirm_email(rooms: Rooms, mailbox: Mailbox, person: Person, email: str) -> None:
    """Give an address and follow the link."""
    answer = await person.call("PUT", "/accounts/me/email", json={"email": email})
    assert answer.status_code == 202, answer.text
    await deliver(rooms)
    answer = await person.client.post("/api/v1/email-confirmations", json={"token": mailbox.token()})
    assert answer.status_code == 204, answer.text


async def on_shard_of(rooms: Rooms, account_id: str | int, statement: str) -> list[Any]:
    """Run a statement where an account lives, past every rule."""
    async with rooms.shards.owner(AccountId(int(account_id))).begin() as tx:
        return cast("list[Any]", await tx.connection.fetch(statement))


async def on_every_shard(rooms: Rooms, statement: str) -> None:
    """Run a statement on all shards."""
    for number in rooms.shards.map.owners:
        async with rooms.shards.shard(number).begin() as tx:
            await tx.connection.execute(statement)


async def sign_in(person: Person, password: str = PASSWORD, **headers: str) -> Any:
    """Log in by name and password."""
    answer = await person.client.post(
        "/api/v1/sessions", json={"username": person.username, "password": password}, headers=headers
    )
    person.client.cookies.clear()
    return answer


async def all_at_once(*calls: Any) -> list[Any]:
    """Every outcome, whatever it is."""
    return await asyncio.gather(*calls, return_exceptions=True)
