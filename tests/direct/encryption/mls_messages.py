"""MLS messages as the server reads them, made by hand: signed where it checks signatures, and random elsewhere.

Tests of the server's rules need many of them, and no cryptography; what real devices make is in `test_real_clients`.
"""

import base64
import hashlib
import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from tests.support import Person

DAY_S = 86_400


def vector(content: bytes) -> bytes:
    length = len(content)
    if length < 1 << 6:
        return bytes([length]) + content
    if length < 1 << 14:
        return (length | 1 << 14).to_bytes(2, "big") + content
    return (length | 2 << 30).to_bytes(4, "big") + content


def text(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).decode().rstrip("=")


@dataclass
class TestDevice:
    """A device that somebody has registered."""

    __test__ = False
    person: Person
    device_id: str
    key: Ed25519PrivateKey = field(default_factory=Ed25519PrivateKey.generate)
    counters: dict[str, int] = field(default_factory=dict[str, int])

    @property
    def public_key(self) -> bytes:
        return self.key.public_key().public_bytes_raw()

    def sign(self, label: str, content: bytes) -> bytes:
        return self.key.sign(vector(f"MLS 1.0 {label}".encode()) + vector(content))

    def leaf(self, source: bytes, *, identity: str | None = None) -> bytes:
        named = identity or f"{self.person.account_id}.{self.device_id}"
        content = b"".join(
            [
                vector(secrets.token_bytes(32)),
                vector(self.public_key),
                (1).to_bytes(2, "big") + vector(named.encode()),
                b"".join(vector(b"\x00\x01") for _ in range(5)),
                source,
                vector(b""),
            ]
        )
        return content + vector(self.sign("LeafNodeTBS", content))

    def key_package(self, *, days: float = 30, identity: str | None = None) -> bytes:
        """A key package without the frame of an MLSMessage."""
        ends = int(time.time() + days * DAY_S)
        source = b"\x01" + (0).to_bytes(8, "big") + ends.to_bytes(8, "big")
        leaf = self.leaf(source, identity=identity)
        content = b"\x00\x01\x00\x01" + vector(secrets.token_bytes(32)) + leaf + vector(b"")
        return content + vector(self.sign("KeyPackageTBS", content))

    def path(self) -> bytes:
        return self.leaf(b"\x03" + vector(b"")) + vector(b"")


def framed(key_package: bytes) -> bytes:
    return b"\x00\x01\x00\x05" + key_package


def reference(label: str, value: bytes) -> bytes:
    return hashlib.sha256(vector(label.encode()) + vector(value)).digest()


def header(thread_id: str, group: int, epoch: int, leaf_index: int, content_type: int) -> bytes:
    group_id = vector(f"{thread_id}.{group}".encode())
    sender = b"\x01" + leaf_index.to_bytes(4, "big")
    return (
        b"\x00\x01\x00\x01"
        + group_id
        + epoch.to_bytes(8, "big")
        + sender
        + vector(b"")
        + bytes([content_type])
    )


def commit(
    thread_id: str,
    *,
    epoch: int,
    leaf_index: int,
    adds: Sequence[bytes] = (),
    removes: Sequence[int] = (),
    references: Sequence[bytes] = (),
    path: bytes | None = None,
    group: int = 1,
) -> bytes:
    proposals = b"".join(
        [
            *(b"\x02" + vector(each) for each in references),
            *(b"\x01\x00\x03" + each.to_bytes(4, "big") for each in removes),
            *(b"\x01\x00\x01" + each for each in adds),
        ]
    )
    update = b"\x00" if path is None else b"\x01" + path
    tags = vector(secrets.token_bytes(64)) + vector(secrets.token_bytes(32)) * 2
    return header(thread_id, group, epoch, leaf_index, 3) + vector(proposals) + update + tags


def removal(
    thread_id: str, *, epoch: int, leaf_index: int, removed: int, group: int = 1
) -> tuple[bytes, bytes]:
    """The proposal of a removal, and its reference."""
    content = header(thread_id, group, epoch, leaf_index, 2) + b"\x00\x03" + removed.to_bytes(4, "big")
    signed = content + vector(secrets.token_bytes(64))
    return signed + vector(secrets.token_bytes(32)), reference("MLS 1.0 Proposal Reference", signed[2:])


def welcome(adds: Sequence[bytes]) -> bytes:
    secrets_of = b"".join(
        vector(reference("MLS 1.0 KeyPackage Reference", each))
        + vector(secrets.token_bytes(32))
        + vector(secrets.token_bytes(48))
        for each in adds
    )
    return b"\x00\x01\x00\x03\x00\x01" + vector(secrets_of) + vector(secrets.token_bytes(200))


def ciphertext(thread_id: str, *, epoch: int, group: int = 1, size: int = 100) -> bytes:
    group_id = vector(f"{thread_id}.{group}".encode())
    rest = vector(b"") + vector(secrets.token_bytes(28)) + vector(secrets.token_bytes(size))
    return b"\x00\x01\x00\x02" + group_id + epoch.to_bytes(8, "big") + b"\x01" + rest
