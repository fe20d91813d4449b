"""Checks the bytes of a tus request against the checksum that its sender gave (the `checksum` extension)."""

import base64
import binascii
import hashlib
import hmac
from typing import Self

from tintype.media.errors import ChecksumUnknown

ALGORITHMS = ("sha1", "sha256")


class Checksum:
    """A digest that the received bytes must have."""

    def __init__(self, algorithm: str, digest: bytes) -> None:
        self._hash, self._digest = hashlib.new(algorithm, usedforsecurity=False), digest

    @classmethod
    def parse(cls, header: str) -> Self:
        """Read an Upload-Checksum header."""
        algorithm, _, encoded = header.strip().partition(" ")
        if algorithm not in ALGORITHMS:
            raise ChecksumUnknown
        try:
            return cls(algorithm, base64.b64decode(encoded.strip(), validate=True))
        except (binascii.Error, ValueError) as error:
            raise ChecksumUnknown from error

    def update(self, chunk: bytes) -> None:
        """Add received bytes."""
        self._hash.update(chunk)

    def matches(self) -> bool:
        """Whether all bytes together have the digest that the sender gave."""
        return hmac.compare_digest(self._hash.digest(), self._digest)
