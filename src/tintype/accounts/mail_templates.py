"""The texts of our mails, as plain text and as HTML.

Links carry their secret in the fragment (after the #), which browsers do not send to servers: it reaches no log.
"""

import html
import re
from dataclasses import dataclass
from email.message import EmailMessage
from email.utils import formatdate
from typing import Literal

Notice = Literal[
    "password_changed", "email_changed", "phone_changed", "totp_enabled", "totp_disabled", "recovery_code_used",
    "recovery_codes_renewed", "passkey_added", "passkey_removed", "token_created", "export_requested",
    "deletion_requested", "new_sign_in",
]  # fmt: skip
"""Mails that tell of a change to an account; each is told to its owner at the confirmed address."""
MailKind = Literal["confirm_email", "already_here", "reset_password"] | Notice
STYLE = "font:16px/1.5 system-ui,sans-serif;color:#1d1f21;max-width:34rem"
NOTICES: dict[Notice, tuple[str, str]] = {
    "password_changed": ("Your password was changed", "The password of {name} was changed just now."),
    "email_changed": ("Your email address was changed", "The email address of {name} was changed just now."),
    "phone_changed": ("Your phone number was changed", "The phone number of {name} was changed just now."),
    "totp_enabled": (
        "Your authenticator app was turned on",
        "From now on, logging in to {name} needs a code of your authenticator app.",
    ),
    "totp_disabled": (
        "Your authenticator app was turned off",
        "Logging in to {name} needs no code any more: the password is enough.",
    ),
    "recovery_code_used": (
        "A recovery code was used",
        "A recovery code of {name} was used just now. It works only once.",
    ),
    "recovery_codes_renewed": (
        "You have new recovery codes",
        "New recovery codes were made for {name}. The old ones do not work any more.",
    ),
    "passkey_added": ("A passkey was added", "The passkey “{detail}” can log in to {name} from now on."),
    "passkey_removed": ("A passkey was removed", "The passkey “{detail}” of {name} was removed."),
    "token_created": (
        "An API token was created",
        "The API token “{detail}” can use the account {name} from now on.",
    ),
    "export_requested": (
        "An export of your data was requested",
        "An archive of everything that {name} has here is being made, and can be downloaded for some days.",
    ),
    "deletion_requested": (
        "Your account will be deleted",
        "The deletion of {name} was requested. Log in within the next days to keep the account.",
    ),
    "new_sign_in": (
        "A new device logged in",
        "A device that we have not seen before logged in to {name}: {detail}.",
    ),
}


@dataclass(frozen=True)
class MailContent:
    """Subject, paragraphs and at most one link of a mail."""

    subject: str
    paragraphs: tuple[str, ...]
    link: str = ""
    button: str = ""


def render_mail(
    kind: MailKind, *, username: str, public_url: str, token: str, detail: str = ""
) -> MailContent:
    """The content of one kind of mail; `token` is the secret of its link, `detail` what the notice is about."""
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
    return _render_notice(kind, username, public_url, detail)


def _render_notice(kind: Notice, username: str, public_url: str, detail: str) -> MailContent:
    subject, sentence = NOTICES[kind]
    return MailContent(
        subject,
        (
            sentence.format(name=f"@{username}", detail=_without_links(detail) or "unnamed"),
            "If it was not you, choose a new password right away, which logs every other device out:",
        ),
        f"{public_url}/forgot-password",
        "It was not me",
    )


def _without_links(detail: str) -> str:
    """What somebody else may have named, in a form that no mailbox turns into a link."""
    return " ".join(re.sub(r"[:/@]|\.(?=\w)", " ", detail).split())


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
