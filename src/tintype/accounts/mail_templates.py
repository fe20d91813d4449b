"""The texts of our mails, as plain text and as HTML.

Links carry their secret in the fragment (after the #), which browsers do not send to servers: it reaches no log.
"""

import html
from dataclasses import dataclass
from email.message import EmailMessage
from email.utils import formatdate
from typing import Literal

MailKind = Literal["confirm_email", "already_here", "reset_password", "password_changed", "email_changed"]
STYLE = "font:16px/1.5 system-ui,sans-serif;color:#1d1f21;max-width:34rem"


@dataclass(frozen=True)
class MailContent:
    """Subject, paragraphs and at most one link of a mail."""

    subject: str
    paragraphs: tuple[str, ...]
    link: str = ""
    button: str = ""


def render_mail(kind: MailKind, *, username: str, public_url: str, token: str) -> MailContent:
    """The content of one kind of mail; `token` is the secret of its link."""
    if kind == "confirm_email":
        return MailContent(
            "Confirm your email address",
            (
                f"Someone, probably you, added this address to the account @{username}.",
                "Follow the link within a day to confirm it. If it was not you, you can ignore this mail.",
            ),
            f"{public_url}/confirm-email#{token}",
            "Confirm this address",
        )
    if kind == "reset_password":
        return MailContent(
            "Choose a new password",
            (
                f"Someone, probably you, asked to reset the password of @{username}.",
                "Follow the link within an hour to choose a new one; you will be signed out on all devices.",
                "If it was not you, you can ignore this mail: your password stays as it is.",
            ),
            f"{public_url}/reset-password#{token}",
            "Choose a new password",
        )
    return _render_notice(kind, username, public_url)


def _render_notice(kind: MailKind, username: str, public_url: str) -> MailContent:
    if kind == "already_here":
        return MailContent(
            "You already have an account",
            (
                "Someone, perhaps you, tried to add this address to another account.",
                "It already belongs to an account, so it was not added. Log in with it, or choose a new password:",
            ),
            f"{public_url}/login",
            "Log in",
        )
    what = "password" if kind == "password_changed" else "email address"
    return MailContent(
        f"Your {what} was changed",
        (
            f"The {what} of @{username} was changed just now.",
            "If it was not you, choose a new password right away:",
        ),
        f"{public_url}/forgot-password",
        "It was not me",
    )


def build_message(content: MailContent, *, sender: str, recipient: str, message_id: str) -> EmailMessage:
    """A MIME message with the content as plain text and as HTML."""
    message = EmailMessage()
    message["Subject"], message["From"], message["To"] = content.subject, sender, recipient
    message["Date"], message["Message-ID"] = formatdate(usegmt=True), message_id
    message["Auto-Submitted"] = "auto-generated"
    text = [*content.paragraphs, content.link] if content.link else list(content.paragraphs)
    message.set_content("\n\n".join(text) + "\n")
    message.add_alternative(_in_html(content), subtype="html")
    return message


def _in_html(content: MailContent) -> str:
    words = "".join(f"<p>{html.escape(each)}</p>" for each in content.paragraphs)
    link = html.escape(content.link)
    button = f'<p><a href="{link}">{html.escape(content.button)}</a></p><p>{link}</p>' if content.link else ""
    return f'<!doctype html><html lang="en"><body style="{STYLE}">{words}{button}</body></html>'
