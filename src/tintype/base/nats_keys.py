"""Signatures that NATS understands: the key that issues users of the gateway, and the tokens it signs.

NATS asks the auth callout who may connect, and believes an answer that the issuer signed, whose public key is in its
configuration. The key is derived from the installation's secret key: every process has it, and nothing more is stored.
"""

import base64
import binascii
import hashlib
import hmac
import secrets
import time
from typing import Any, TypeVar

import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

T = TypeVar("T")
ACCOUNT_PREFIX = 0
"""The kind of a key, in its first byte: written in base32, a public key of an account begins with A."""
HEADER = {"typ": "JWT", "alg": "ed25519-nkey"}


class IssuerKey:
    """The Ed25519 key that signs users of the gateway."""

    def __init__(self, secret_key: bytes) -> None:
        seed = hmac.new(secret_key, b"nats issuer", hashlib.sha256).digest()
        self._key = Ed25519PrivateKey.from_private_bytes(seed)
        raw = bytes([ACCOUNT_PREFIX]) + self._key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
        checksum = binascii.crc_hqx(raw, 0).to_bytes(2, "little")
        self.public = base64.b32encode(raw + checksum).decode().rstrip("=")
        """The public key, as the configuration of NATS names it."""

    def sign(self, claims: dict[str, Any]) -> str:
        """A JWT with these claims, issued now."""
        issued = {"jti": secrets.token_hex(16), "iat": int(time.time()), "iss": self.public, **claims}
        signed = b".".join(_encode(msgspec.json.encode(part)) for part in (HEADER, issued))
        return b".".join((signed, _encode(self._key.sign(signed)))).decode()


def read_claims(token: bytes, kind: type[T]) -> T:
    """The claims of a JWT that came over a subject on which only the server publishes; its signature is not checked."""
    parts = token.split(b".")
    if len(parts) != 3:  # noqa: PLR2004 - header, claims, signature
        raise ValueError("that is no JWT")
    return msgspec.json.decode(base64.urlsafe_b64decode(parts[1] + b"=" * (-len(parts[1]) % 4)), type=kind)


def _encode(part: bytes) -> bytes:
    return base64.urlsafe_b64encode(part).rstrip(b"=")
