"""Encryption of backups: a passphrase becomes a key by scrypt, and each object is a stream of sealed chunks.

An object is a header with a random salt and then chunks of AES-256-GCM under a key of its own, derived from the salt
and the object's name. The nonce of a chunk is its number and whether it is the last (the STREAM construction): a chunk
that is changed, left out, repeated or out of order, a cut end, and an object under another's name do not open.
"""

import hashlib
import hmac
import os
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import msgspec
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

from tintype.backup.errors import BackupDamaged, PassphraseWrong

CHUNK_BYTES = 1024 * 1024
_MAGIC = b"tintype-sealed-1"
_SALT_BYTES, _KEY_BYTES, _TAG_BYTES = 32, 32, 16
_FRAME_BYTES = CHUNK_BYTES + _TAG_BYTES
_HEADER_BYTES = len(_MAGIC) + _SALT_BYTES
_SCRYPT_N, _SCRYPT_R, _SCRYPT_P = 2**17, 8, 1
"""128 MB and about half a second for each guess."""


class Encryption(msgspec.Struct, frozen=True, kw_only=True):
    """How the passphrase of a place becomes its key; contains nothing that helps without the passphrase."""

    salt: bytes
    n: int
    r: int
    p: int
    check: bytes
    """Derived from the key: tells a wrong passphrase from a damaged backup."""


@dataclass(frozen=True)
class Keys:
    """The key of a place of backups; None where they are not encrypted."""

    master: bytes | None = field(default=None, repr=False)

    def object_name(self, identity: str) -> str:
        """A name for a file that is the same every time, and tells nothing about it to whoever lacks the key."""
        key = _derive(self.master, b"", "names") if self.master else b"tintype"
        return hmac.digest(key, identity.encode(), "sha256").hex()

    def seal(self, name: str, chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        """What is stored for an object with this content."""
        return chunks if self.master is None else _seal(self.master, name, chunks)

    def open(self, name: str, chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        """The content of a stored object; raises `BackupDamaged` where it was changed or cut."""
        return chunks if self.master is None else _open(self.master, name, chunks)


def create_keys(passphrase: str) -> tuple[Keys, Encryption]:
    """A new key from a passphrase, and what must be known to derive it again."""
    salt = os.urandom(_SALT_BYTES)
    master = _stretch(passphrase, salt, _SCRYPT_N, _SCRYPT_R, _SCRYPT_P)
    check = _derive(master, b"", "check")
    return Keys(master), Encryption(salt=salt, n=_SCRYPT_N, r=_SCRYPT_R, p=_SCRYPT_P, check=check)


def open_keys(passphrase: str, encryption: Encryption) -> Keys:
    """The key that a passphrase stands for; raises `PassphraseWrong` when it is not that of the place."""
    master = _stretch(passphrase, encryption.salt, encryption.n, encryption.r, encryption.p)
    if not hmac.compare_digest(_derive(master, b"", "check"), encryption.check):
        raise PassphraseWrong("That is not the passphrase with which these backups were encrypted.")
    return Keys(master)


async def _seal(master: bytes, name: str, chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    salt = os.urandom(_SALT_BYTES)
    cipher = AESGCM(_derive(master, salt, name))
    yield _MAGIC + salt
    waiting, number = bytearray(), 0
    async for chunk in chunks:
        waiting += chunk
        while len(waiting) > CHUNK_BYTES:  # what is left at the end, at least a byte of it, is the last chunk
            yield cipher.encrypt(_nonce(number, is_last=False), bytes(waiting[:CHUNK_BYTES]), None)
            del waiting[:CHUNK_BYTES]
            number += 1
    yield cipher.encrypt(_nonce(number, is_last=True), bytes(waiting), None)


async def _open(master: bytes, name: str, chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    waiting, number, cipher = bytearray(), 0, None
    async for chunk in chunks:
        waiting += chunk
        if cipher is None and len(waiting) >= _HEADER_BYTES:
            cipher = _read_header(master, name, bytes(waiting[:_HEADER_BYTES]))
            del waiting[:_HEADER_BYTES]
        while cipher is not None and len(waiting) > _FRAME_BYTES:
            yield _decrypt(cipher, _nonce(number, is_last=False), bytes(waiting[:_FRAME_BYTES]), name)
            del waiting[:_FRAME_BYTES]
            number += 1
    if cipher is None:
        raise BackupDamaged(f"The backup is damaged: {name} is cut off.")
    yield _decrypt(cipher, _nonce(number, is_last=True), bytes(waiting), name)


def _read_header(master: bytes, name: str, header: bytes) -> AESGCM:
    if not header.startswith(_MAGIC):
        raise BackupDamaged(f"The backup is damaged: {name} is not an encrypted object.")
    return AESGCM(_derive(master, header[len(_MAGIC) :], name))


def _decrypt(cipher: AESGCM, nonce: bytes, frame: bytes, name: str) -> bytes:
    try:
        return cipher.decrypt(nonce, frame, None)
    except (InvalidTag, ValueError) as error:  # ValueError: shorter than a tag
        raise BackupDamaged(f"The backup is damaged: {name} has changed since it was written.") from error


def _nonce(number: int, *, is_last: bool) -> bytes:
    return number.to_bytes(11, "big") + bytes([is_last])


def _derive(master: bytes, salt: bytes, purpose: str) -> bytes:
    info = hashlib.sha256(f"tintype backup {purpose}".encode()).digest()
    return HKDF(algorithm=SHA256(), length=_KEY_BYTES, salt=salt or None, info=info).derive(master)


def _stretch(passphrase: str, salt: bytes, n: int, r: int, p: int) -> bytes:
    return Scrypt(salt=salt, length=_KEY_BYTES, n=n, r=r, p=p).derive(passphrase.encode())
