"""Addresses and numbers in the one form they are compared in, and the keys they are claimed under."""

import hashlib
import re

import phonenumbers

from tintype.accounts.errors import EmailRefused, PhoneRefused
from tintype.accounts.names import skeleton

LONGEST_EMAIL, LONGEST_LOCAL = 254, 64
LOCAL = re.compile(r"[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*")
LABEL = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")


def check_email(text: str) -> str:
    """An address in lower case, its domain as it is looked up; or a refusal."""
    local, _, domain = text.strip().lower().rpartition("@")
    try:
        domain = domain.encode("idna").decode()
    except UnicodeError as error:
        raise EmailRefused from error
    labels = domain.split(".")
    is_domain = len(labels) > 1 and all(LABEL.fullmatch(label) for label in labels)
    is_named = LOCAL.fullmatch(local) and len(local) <= LONGEST_LOCAL
    if not (is_domain and is_named) or len(local) + len(domain) + 1 > LONGEST_EMAIL:
        raise EmailRefused
    return f"{local}@{domain}"


def check_phone(text: str) -> str:
    """A number as the whole world writes it (+49…), or a refusal."""
    try:
        number = phonenumbers.parse(text.strip()[:40], None)
    except phonenumbers.NumberParseException as error:
        raise PhoneRefused from error
    if not phonenumbers.is_possible_number(number):
        raise PhoneRefused
    return phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)


def email_key(email: str) -> str:
    """What an address is claimed under."""
    return _key("email", email)


def phone_key(phone: str) -> str:
    """What a number is claimed under."""
    return _key("phone", phone)


def look_key(username: str) -> str:
    """What the look of a verified name is claimed under."""
    return _key("look", skeleton(username))


def _key(kind: str, value: str) -> str:
    return f"{kind}:{hashlib.sha256(value.encode()).hexdigest()}"
