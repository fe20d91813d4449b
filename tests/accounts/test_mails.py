import email
import ipaddress
import socket
import ssl
import stat
from collections.abc import Generator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID
from httpx import AsyncClient

from tests.accounts.helpers import (
    NEW_PASSWORD,
    Mailbox,
    all_at_once,
    announced,
    confirm_email,
    deliver,
    on_every_shard,
    on_shard_of,
    sign_in,
)
from tests.support import PASSWORD, Person, eventually
from tintype.accounts import MailWanted, SessionsEnded
from tintype.accounts.mailers import FileMailer, SmtpMailer
from tintype.base.errors import SettingsInvalid
from tintype.wiring import Rooms
from tintype.worker import Worker

HERS = "ana@example.org"


async def private(person: Person) -> dict[str, Any]:
    return (await person.call("GET", "/accounts/me/private")).json()


async def test_an_address_counts_once_its_link_was_followed(
    rooms: Rooms, mailbox: Mailbox, ana: Person
) -> None:
    await ana.call("PUT", "/accounts/me/email", json={"email": "Ana@Example.ORG"})
    await deliver(rooms)
    assert (await private(ana))["email"] is None

    token = mailbox.token()
    first = await ana.client.post("/api/v1/email-confirmations", json={"token": token})
    again = await ana.client.post("/api/v1/email-confirmations", json={"token": token})

    assert (first.status_code, again.status_code, again.json()["code"]) == (204, 400, "link_wrong")
    assert (await private(ana))["email"] == HERS
    assert mailbox.subjects(HERS) == ["Confirm your email address"]  # the event came twice, the mail once
    entered = await ana.client.post("/api/v1/sessions", json={"username": HERS.upper(), "password": PASSWORD})
    assert entered.status_code == 201


async def test_a_taken_address_gets_the_same_answer_and_its_owner_a_mail(
    rooms: Rooms, mailbox: Mailbox, client: AsyncClient, ana: Person
) -> None:
    await confirm_email(rooms, mailbox, ana, HERS)

    body = {"password": PASSWORD, "full_name": "Somebody"}
    taken = await client.post("/api/v1/accounts", json=body | {"username": "mallory", "email": HERS})
    client.cookies.clear()
    free = await client.post(
        "/api/v1/accounts", json=body | {"username": "trent", "email": "free@example.org"}
    )
    client.cookies.clear()
    await deliver(rooms)

    assert (taken.status_code, free.status_code) == (201, 201)
    assert taken.json().keys() == free.json().keys()
    assert mailbox.subjects(HERS)[-1] == "You already have an account"
    assert mailbox.subjects("free@example.org") == ["Confirm your email address"]
    assert (await private(ana))["email"] == HERS


async def test_of_two_who_confirm_one_address_at_once_one_gets_it(
    rooms: Rooms, mailbox: Mailbox, ana: Person, bo: Person
) -> None:
    tokens: list[str] = []
    for person in (ana, bo):
        await person.call("PUT", "/accounts/me/email", json={"email": HERS})
        await deliver(rooms)
        tokens.append(mailbox.token())

    outcomes = await all_at_once(*(rooms.accounts.confirm_email(each) for each in tokens))

    assert len([each for each in outcomes if each is None]) == 1
    assert sorted([(await private(ana))["email"] or "", (await private(bo))["email"] or ""]) == ["", HERS]


async def test_a_removed_address_can_be_used_by_another_account(
    rooms: Rooms, mailbox: Mailbox, ana: Person, bo: Person
) -> None:
    await confirm_email(rooms, mailbox, ana, HERS)
    await ana.call("DELETE", "/accounts/me/email")
    await on_every_shard(rooms, "UPDATE claims SET claimed_at = now() - interval '2 minutes'")

    await confirm_email(rooms, mailbox, bo, HERS)

    assert (await private(bo))["email"] == HERS
    assert "Your email address was changed" in mailbox.subjects(HERS)


async def test_a_reset_works_once_and_ends_all_sessions(
    rooms: Rooms, mailbox: Mailbox, client: AsyncClient, ana: Person
) -> None:
    await confirm_email(rooms, mailbox, ana, HERS)
    program = (await ana.call("POST", "/tokens", json={"name": "n", "scopes": ["read"]})).json()["token"]
    assert (await client.post("/api/v1/password-resets", json={"username": "ana"})).status_code == 202
    await deliver(rooms)
    token = mailbox.token()
    body = {"token": token, "new_password": NEW_PASSWORD}

    weak = await client.post("/api/v1/password-resets/use", json=body | {"new_password": "password1"})
    outcomes = await all_at_once(*(client.post("/api/v1/password-resets/use", json=body) for _ in range(3)))

    assert (weak.status_code, weak.json()["code"]) == (400, "password_common")
    assert sorted(each.status_code for each in outcomes) == [204, 400, 400]
    assert await rooms.authentication.find_account_by_token(ana.token) is None
    assert await rooms.authentication.find_account_by_token(program) is None
    assert (await sign_in(ana, NEW_PASSWORD)).status_code == 201
    assert [each.session_ids for each in await announced(rooms, SessionsEnded)] == [()]
    await deliver(rooms)
    assert mailbox.subjects(HERS)[-1] == "Your password was changed"


async def test_requesting_a_reset_does_not_reveal_who_has_an_account(
    rooms: Rooms, mailbox: Mailbox, client: AsyncClient, ana: Person
) -> None:
    names = ["ana", "nobody_here", "nobody@example.org", "+4930901820", "\u0430na", "x" * 300]
    answers = [await client.post("/api/v1/password-resets", json={"username": name}) for name in names]
    await deliver(rooms)

    assert {(each.status_code, each.text) for each in answers} == {(202, answers[0].text)}
    assert mailbox.mails == []  # ana has no confirmed address, and nobody else is there


async def test_an_expired_link_does_not_work(
    rooms: Rooms, mailbox: Mailbox, client: AsyncClient, ana: Person
) -> None:
    await confirm_email(rooms, mailbox, ana, HERS)
    await client.post("/api/v1/password-resets", json={"username": HERS})
    await deliver(rooms)
    await on_shard_of(rooms, ana.account_id, "UPDATE mails SET expires_at = now()")

    for token in (mailbox.token(), ana.token, "nonsense", "A" * 54):
        body = {"token": token, "new_password": NEW_PASSWORD}
        assert (await client.post("/api/v1/password-resets/use", json=body)).json()["code"] == "link_wrong"


async def test_no_secret_of_a_mail_is_stored_anywhere(rooms: Rooms, mailbox: Mailbox, ana: Person) -> None:
    await ana.call("PUT", "/accounts/me/email", json={"email": HERS})
    await deliver(rooms)

    kept = [
        await on_shard_of(rooms, ana.account_id, "SELECT * FROM mails"),
        await announced(rooms, MailWanted),
    ]

    assert mailbox.token() not in str(kept)


@pytest.mark.slow
async def test_the_worker_retries_mail_that_the_server_refused(
    rooms: Rooms, mailbox: Mailbox, client: AsyncClient, working: Worker
) -> None:
    mailbox.failures = 1
    await client.post("/api/v1/accounts", json={"username": "cleo", "password": PASSWORD, "email": HERS})
    client.cookies.clear()

    async def has_come() -> bool:
        return len(mailbox.mails) == 1

    await eventually(has_come, what="the mail comes at the second try")


@pytest.mark.parametrize(
    "address",
    [
        *(
            "",
            "ana",
            "ana@",
            "@example.org",
            "ana@localhost",
            "a b@example.org",
            "ana@-x.org",
            "ana..x@example.org",
        ),
        *("ana@example.org\r\nBcc: x@example.org", "ana@exa\0mple.org"),
        *("a" * 65 + "@example.org", "ana@" + "x" * 64 + ".org"),
    ],
)
async def test_an_invalid_address_is_refused(ana: Person, address: str) -> None:
    answer = await ana.call("PUT", "/accounts/me/email", json={"email": address})

    assert (answer.status_code, answer.json()["code"]) == (400, "email_refused")


async def test_a_phone_number_belongs_to_one_account(ana: Person, bo: Person) -> None:
    mine = await ana.call("PUT", "/accounts/me/phone", json={"phone": "+49 (30) 90 18 20"})
    theirs = await bo.call("PUT", "/accounts/me/phone", json={"phone": "+4930901820"})
    odd = await bo.call("PUT", "/accounts/me/phone", json={"phone": "call me"})

    assert (mine.status_code, theirs.status_code, odd.status_code) == (204, 409, 400)
    assert (await private(ana))["phone"] == "+4930901820"
    entered = await ana.client.post(
        "/api/v1/sessions", json={"username": "+4930901820", "password": PASSWORD}
    )
    assert entered.json()["account"]["username"] == "ana"


def sample_mail() -> EmailMessage:
    message = EmailMessage()
    message["Subject"], message["From"], message["To"] = "Hello", "us@example.org", HERS
    message["Message-ID"] = "<abc@example.org>"
    message.set_content("words")
    return message


async def test_without_a_mail_server_mails_are_files_for_the_operator_alone(tmp_path: Any) -> None:
    await FileMailer(tmp_path / "mail").send(sample_mail())

    (file,) = (tmp_path / "mail").iterdir()
    assert file.name == "abc.eml"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert email.message_from_bytes(file.read_bytes())["To"] == HERS


def _let_in(*_: object) -> AuthResult:
    return AuthResult(success=True)


class Postman:
    """A mail server's hands."""

    def __init__(self) -> None:
        self.taken: list[bytes] = []

    async def handle_DATA(self, _server: Any, _session: Any, envelope: Any) -> str:  # noqa: N802 - aiosmtpd's name
        self.taken.append(envelope.content)
        return "250 OK"


@contextmanager
def mail_server(postman: Postman, **options: Any) -> Generator[int]:
    """A mail server on a port of its own."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = Controller(postman, hostname="127.0.0.1", port=port, authenticator=_let_in, **options)
    server.start()
    try:
        yield port
    finally:
        server.stop()


def tls_contexts(folder: Path) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """One for the server, with a certificate made here, and one for the client that trusts it."""
    key, name = (
        ec.generate_private_key(ec.SECP256R1()),
        x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "x")]),
    )
    now = datetime.now(UTC)
    made = x509.CertificateBuilder(
        name, name, key.public_key(), x509.random_serial_number(), now, now + timedelta(1)
    )
    here = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    pem = made.add_extension(here, critical=False).sign(key, hashes.SHA256()).public_bytes(Encoding.PEM)
    (folder / "both.pem").write_bytes(
        pem + key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    )
    server = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    server.load_cert_chain(folder / "both.pem")
    return server, ssl.create_default_context(cadata=pem.decode())


async def test_a_password_is_never_sent_in_clear_to_a_mail_server() -> None:
    postman = Postman()
    with mail_server(postman) as port:
        await SmtpMailer(f"smtp://127.0.0.1:{port}").send(sample_mail())
        with pytest.raises(Exception, match="STARTTLS"):
            await SmtpMailer(f"smtp://user:hush@127.0.0.1:{port}").send(sample_mail())

    assert len(postman.taken) == 1
    assert b"Subject: Hello" in postman.taken[0]


async def test_mails_go_through_starttls_with_a_password(tmp_path: Path) -> None:
    postman, (server, client) = Postman(), tls_contexts(tmp_path)
    with mail_server(postman, tls_context=server, require_starttls=True, auth_required=True) as port:
        await SmtpMailer(f"smtp://user:hush@127.0.0.1:{port}", tls=client).send(sample_mail())
        with pytest.raises(ssl.SSLError):  # a certificate nobody vouches for
            await SmtpMailer(f"smtp+starttls://127.0.0.1:{port}").send(sample_mail())

    assert len(postman.taken) == 1


async def test_mails_go_through_tls_from_the_start(tmp_path: Path) -> None:
    postman, (server, client) = Postman(), tls_contexts(tmp_path)
    with mail_server(postman, ssl_context=server) as port:
        await SmtpMailer(f"smtps://127.0.0.1:{port}", tls=client).send(sample_mail())

    assert len(postman.taken) == 1


def test_an_invalid_mail_setting_is_refused() -> None:
    with pytest.raises(SettingsInvalid):
        SmtpMailer("mail.example.org")
