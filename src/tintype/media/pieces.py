"""Cuts a stream of bytes into pieces worth keeping, and checks what a sender says about them."""

import base64
import binascii
import hashlib
import hmac
import time
from collections.abc import AsyncIterator
from typing import Self

from tintype.base.errors import Invalid

PIECE_BYTES = 4 * 1024 * 1024
"""What a killed process loses of an upload at most, and what one upload holds in memory."""
PIECE_S = 5.0
"""On a slow line a piece is kept after this time, however small."""
ALGORITHMS = ("sha1", "sha256")


class ChecksumUnknown(Invalid):
    """Checksums are `sha1` or `sha256`, a space, and the digest in Base64."""

    code = "checksum_unknown"


class Checksum:
    """What a sender says about the bytes, and what they are."""

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

    def add(self, chunk: bytes) -> None:
        """Some more bytes."""
        self._hash.update(chunk)

    def is_right(self) -> bool:
        """Whether all bytes together are what the sender said."""
        return hmac.compare_digest(self._hash.digest(), self._digest)


async def pieces_of(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Pieces of a few megabytes, or of a few seconds; when the stream breaks, what had arrived comes out first."""
    held = bytearray()
    since = time.monotonic()
    try:
        async for chunk in chunks:
            held += chunk
            if len(held) >= PIECE_BYTES or (held and time.monotonic() - since > PIECE_S):
                yield bytes(held)
                held.clear()
                since = time.monotonic()
    except ConnectionError:
        pass  # the sender is gone; there is nobody to tell, and its bytes are welcome
    if held:
        yield bytes(held)
