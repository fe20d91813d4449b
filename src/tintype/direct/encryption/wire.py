"""The encoding of MLS messages (RFC 9420, section 2.1), as far as the server reads them.

Handshakes travel as PublicMessage, so that the server can hold them against its own rows; application messages as
PrivateMessage, of which it reads the header alone.
"""

from collections.abc import Callable
from typing import TypeVar

from tintype.direct.encryption.errors import EncodingInvalid

T = TypeVar("T")
_SIZES = {0: 1, 1: 2, 2: 4}
"""How many bytes a length has, by its two highest bits."""


class WireReader:
    """Reads numbers and vectors one after the other; `EncodingInvalid` where the bytes end too soon."""

    def __init__(self, data: bytes) -> None:
        self._data, self.at = data, 0

    @property
    def is_at_end(self) -> bool:
        """Whether everything was read."""
        return self.at == len(self._data)

    def take(self, size: int) -> bytes:
        """The next bytes."""
        if size > len(self._data) - self.at:
            raise EncodingInvalid
        self.at += size
        return self._data[self.at - size : self.at]

    def number(self, size: int) -> int:
        """The next number of so many bytes."""
        return int.from_bytes(self.take(size), "big")

    def vector(self) -> bytes:
        """The next vector: a length of 1, 2 or 4 bytes, and as many bytes."""
        first = self.number(1)
        size = _SIZES.get(first >> 6)
        if size is None:
            raise EncodingInvalid
        length = ((first & 0x3F) << (8 * (size - 1))) + self.number(size - 1)
        return self.take(length)

    def items(self, read: Callable[["WireReader"], T]) -> list[T]:
        """The items of the next vector."""
        inner, found = WireReader(self.vector()), list[T]()
        while not inner.is_at_end:
            found.append(read(inner))
        return found

    def since(self, start: int) -> bytes:
        """What was read from this position on."""
        return self._data[start : self.at]

    def end(self) -> None:
        """Refuse what follows the end."""
        if not self.is_at_end:
            raise EncodingInvalid


def write_vector(content: bytes) -> bytes:
    """A vector with its length, as MLS writes it: in as few bytes as possible."""
    length = len(content)
    if length < 1 << 6:
        return bytes([length]) + content
    if length < 1 << 14:
        return (length | 1 << 14).to_bytes(2, "big") + content
    return (length | 2 << 30).to_bytes(4, "big") + content
