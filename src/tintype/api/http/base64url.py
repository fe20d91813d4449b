"""Bytes in JSON: base64url without padding (RFC 4648, section 5)."""

import base64
import binascii
from typing import Annotated

import msgspec

from tintype.base.errors import Invalid

ALPHABET = r"^[A-Za-z0-9_-]*$"


class Base64Invalid(Invalid):
    """Bytes are written in base64url, without padding."""

    code = "base64_invalid"


def text_length(size_bytes: int) -> int:
    """How many characters so many bytes take."""
    return (size_bytes * 4 + 2) // 3


SmallBytes = Annotated[
    str,
    msgspec.Meta(max_length=text_length(4_096), pattern=ALPHABET, description="base64url, at most 4 KiB."),
]
CommitBytes = Annotated[
    str,
    msgspec.Meta(
        max_length=text_length(256 * 1024), pattern=ALPHABET, description="base64url, at most 256 KiB."
    ),
]
WelcomeBytes = Annotated[
    str,
    msgspec.Meta(
        max_length=text_length(384 * 1024), pattern=ALPHABET, description="base64url, at most 384 KiB."
    ),
]
MessageBytes = Annotated[
    str,
    msgspec.Meta(
        max_length=text_length(64 * 1024), pattern=ALPHABET, description="base64url, at most 64 KiB."
    ),
]


def encode_bytes(content: bytes) -> str:
    """Bytes as text."""
    return base64.urlsafe_b64encode(content).decode().rstrip("=")


def decode_bytes(text: str) -> bytes:
    """The bytes of a text."""
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError) as error:
        raise Base64Invalid from error
