"""Email addresses and phone numbers in canonical form, and the keys under which they are claimed."""

import hashlib
import re
import unicodedata

import phonenumbers

from tintype.accounts.errors import EmailRefused, PhoneRefused
from tintype.accounts.username_rules import skeleton

MAX_EMAIL_LENGTH, MAX_LOCAL_LENGTH = 254, 64
LOCAL = re.compile(r"[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*")
LABEL = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")


def check_email(text: str) -> str:
    """The address in lower case with its domain in IDNA form, or `EmailRefused`."""
    local, _, domain = text.strip().lower().rpartition("@")
    try:
        domain = domain.encode("idna").decode()
    except UnicodeError as error:
        raise EmailRefused from error
    labels = domain.split(".")
    is_domain = len(labels) > 1 and all(LABEL.fullmatch(label) for label in labels)
    is_named = LOCAL.fullmatch(local) and len(local) <= MAX_LOCAL_LENGTH
    if not (is_domain and is_named) or len(local) + len(domain) + 1 > MAX_EMAIL_LENGTH:
        raise EmailRefused
    return f"{local}@{domain}"


def check_phone(text: str) -> str:
    """The number in E.164 form (+49…), or `PhoneRefused`."""
    try:
        number = phonenumbers.parse(text.strip()[:40], None)
    except phonenumbers.NumberParseException as error:
        raise PhoneRefused from error
    if not phonenumbers.is_possible_number(number):
        raise PhoneRefused
    return phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)


def fold_identifier(text: str) -> str:
    """What somebody typed as a name, in the form that all spellings share: full-width letters are plain ones."""
    return unicodedata.normalize("NFKC", text).strip()


def identifier_key(text: str) -> str:
    """The same for every spelling of a username, email address or phone number, whether or not anybody has it."""
    folded = fold_identifier(text)
    try:
        if "@" in folded:
            return check_email(folded.rstrip("."))
        if folded.startswith("+"):
            return check_phone(folded)
    except (EmailRefused, PhoneRefused):
        return folded.casefold()
    return folded.casefold()


def mailbox_of(email: str) -> str:
    """The mailbox of an address in canonical form: what stands behind a plus is a label that its owner gave."""
    local, _, domain = email.rpartition("@")
    return f"{local.partition('+')[0] or local}@{domain}"


def email_key(email: str) -> str:
    """The claim key of an email address."""
    return _key("email", email)


def phone_key(phone: str) -> str:
    """The claim key of a phone number."""
    return _key("phone", phone)


def lookalike_key(username: str) -> str:
    """The claim key of everything that looks like this verified username."""
    return _key("look", skeleton(username))


def _key(kind: str, value: str) -> str:
    return f"{kind}:{hashlib.sha256(value.encode()).hexdigest()}"
