"""How mail is delivered: through an SMTP server, or as files in a folder for the operator."""

import asyncio
import os
import secrets
import ssl
from email.message import EmailMessage
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import unquote, urlsplit

import aiosmtplib

from tintype.base.errors import SettingsInvalid
from tintype.base.settings import Settings

TIMEOUT_S = 30.0
OWNER_ONLY = 0o600


class Mailer(Protocol):
    """Delivers one mail or raises; the job that called it is retried later."""

    async def send(self, message: EmailMessage) -> None:
        """Deliver the mail."""
        ...


class FileMailer:
    """Writes each mail to an .eml file: the default where no mail server is configured."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def send(self, message: EmailMessage) -> None:
        """Write the mail atomically: a reader never finds half a file."""
        await asyncio.to_thread(self._write, message)

    def _write(self, message: EmailMessage) -> None:
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        draft = self._folder / f".{secrets.token_hex(8)}.draft"
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OWNER_ONLY)
        with os.fdopen(handle, "wb") as file:
            file.write(message.as_bytes())
        name = str(message["Message-ID"]).strip("<>").partition("@")[0]
        draft.replace(self._folder / f"{name}.eml")


class SmtpMailer:
    """Delivers to a mail server: smtps:// is encrypted from the start, smtp:// if the server offers STARTTLS.

    With a password, or as smtp+starttls://, mail is sent encrypted or not at all.
    """

    def __init__(self, url: str, *, tls: ssl.SSLContext | None = None) -> None:
        parts = urlsplit(url)
        if parts.scheme not in {"smtp", "smtps", "smtp+starttls"} or not parts.hostname:
            raise SettingsInvalid("`mail` is not an address of the form smtp://user:password@host:port.")
        self._host, self._is_tls, self._tls = parts.hostname, parts.scheme == "smtps", tls
        self._port = parts.port or (465 if self._is_tls else 587)
        self._user = unquote(parts.username) if parts.username else None
        self._password = unquote(parts.password) if parts.password else None
        needs_tls = parts.scheme == "smtp+starttls" or self._user is not None
        self._start_tls = False if self._is_tls else (True if needs_tls else None)

    async def send(self, message: EmailMessage) -> None:
        """Deliver over a connection of its own: mails are few, and none waits for another."""
        await aiosmtplib.send(message, **self._options())

    async def sign_in(self) -> None:
        """Connect, sign in and leave again: raises where a mail could not be sent."""
        async with aiosmtplib.SMTP(**self._options()):
            pass

    def _options(self) -> dict[str, Any]:
        return {
            "hostname": self._host,
            "port": self._port,
            "username": self._user,
            "password": self._password,
            "use_tls": self._is_tls,
            "start_tls": self._start_tls,
            "tls_context": self._tls,
            "timeout": TIMEOUT_S,
        }


def open_mailer(settings: Settings) -> Mailer:
    """The mailer that the settings name; without one, files under `home`."""
    return SmtpMailer(settings.mail) if settings.mail else FileMailer(settings.home / "mail")
