"""What we write to people: plain text first, and the same in HTML for those whose program prefers it.

Links carry their secret behind a #, which browsers send to no server: it ends up in no log.
"""

import html
from dataclasses import dataclass
from email.message import EmailMessage
from email.utils import formatdate
from typing import Literal

Kind = Literal["confirm_email", "already_here", "reset_password", "password_changed", "email_changed"]
STYLE = "font:16px/1.5 system-ui,sans-serif;color:#1d1f21;max-width:34rem"


@dataclass(frozen=True)
class Letter:
    """A subject, some paragraphs, and perhaps one link to follow."""

    subject: str
    paragraphs: tuple[str, ...]
    link: str = ""
    button: str = ""


def write_letter(kind: Kind, *, username: str, address: str, token: str) -> Letter:
    """The words of one kind of letter. `address` is where the installation is reached."""
    if kind == "confirm_email":
        return Letter(
            "Confirm your email address",
            (
                f"Somebody, we think you, gave this address for the account @{username}.",
                "Follow the link within a day to confirm it. If it was not you, there is nothing to do.",
            ),
            f"{address}/confirm-email#{token}",
            "Confirm this address",
        )
    if kind == "reset_password":
        return Letter(
            "Choose a new password",
            (
                f"Somebody, we think you, forgot the password of @{username}.",
                "Follow the link within an hour to choose a new one; everybody who is signed in will be signed out.",
                "If it was not you, there is nothing to do: your password stays as it is.",
            ),
            f"{address}/reset-password#{token}",
            "Choose a new password",
        )
    return _write_notice(kind, username, address)


def _write_notice(kind: Kind, username: str, address: str) -> Letter:
    if kind == "already_here":
        return Letter(
            "You already have an account",
            (
                "Somebody, perhaps you, gave this address for another account.",
                "It belongs to an account already, so it was not added. Log in with it, or choose a new password:",
            ),
            f"{address}/login",
            "Log in",
        )
    what = "password" if kind == "password_changed" else "email address"
    return Letter(
        f"Your {what} was changed",
        (
            f"The {what} of @{username} was changed just now.",
            "If it was not you, choose a new password at once:",
        ),
        f"{address}/forgot-password",
        "It was not me",
    )


def make_message(letter: Letter, *, sender: str, recipient: str, message_id: str) -> EmailMessage:
    """The letter as a mail."""
    message = EmailMessage()
    message["Subject"], message["From"], message["To"] = letter.subject, sender, recipient
    message["Date"], message["Message-ID"] = formatdate(usegmt=True), message_id
    message["Auto-Submitted"] = "auto-generated"
    text = [*letter.paragraphs, letter.link] if letter.link else list(letter.paragraphs)
    message.set_content("\n\n".join(text) + "\n")
    message.add_alternative(_in_html(letter), subtype="html")
    return message


def _in_html(letter: Letter) -> str:
    words = "".join(f"<p>{html.escape(each)}</p>" for each in letter.paragraphs)
    link = html.escape(letter.link)
    button = f'<p><a href="{link}">{html.escape(letter.button)}</a></p><p>{link}</p>' if letter.link else ""
    return f'<!doctype html><html lang="en"><body style="{STYLE}">{words}{button}</body></html>'
