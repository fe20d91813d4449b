"""Key packages (RFC 9420, section 10): who a device says it is, checked before others are handed it."""

import hashlib
from dataclasses import dataclass

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from tintype.base.ids import LARGEST_ID, AccountId
from tintype.direct.encryption.errors import EncodingInvalid, KeyPackageInvalid
from tintype.direct.encryption.models import DeviceId
from tintype.direct.encryption.wire import WireReader, write_vector

MLS_10, CIPHER_SUITE, BASIC_CREDENTIAL = 1, 1, 1
"""MLS_128_DHKEMX25519_AES128GCM_SHA256_Ed25519, the suite that every implementation has."""
IN_KEY_PACKAGE, IN_UPDATE, IN_COMMIT = 1, 2, 3
"""Where a leaf node comes from."""
KEY_BYTES = 32


@dataclass(frozen=True)
class LeafNode:
    """A device as a leaf: its identity and the key that its signatures are checked with."""

    account_id: AccountId
    device_id: DeviceId
    signature_key: bytes
    not_after: int | None
    """Seconds since 1970; None for a leaf that does not come from a key package."""
    signed: bytes
    signature: bytes


@dataclass(frozen=True)
class KeyPackage:
    """A key package and its reference, by which a welcome names it."""

    leaf: LeafNode
    reference: bytes
    signed: bytes
    signature: bytes


def identity_of(account_id: AccountId, device_id: DeviceId) -> str:
    """What the credential of a device says: whose it is, and which."""
    return f"{account_id}.{device_id}"


def read_key_package_message(content: bytes) -> KeyPackage:
    """A key package that travels as an MLSMessage."""
    reader = WireReader(content)
    if reader.number(2) != MLS_10 or reader.number(2) != 5:  # noqa: PLR2004 - mls_key_package
        raise EncodingInvalid
    found = read_key_package(reader)
    reader.end()
    return found


def read_key_package(reader: WireReader) -> KeyPackage:
    """The key package that begins here."""
    start = reader.at
    if reader.number(2) != MLS_10 or reader.number(2) != CIPHER_SUITE:
        raise KeyPackageInvalid
    reader.vector()  # the init key
    leaf = read_leaf(reader)
    reader.vector()  # extensions
    signed = reader.since(start)
    signature = reader.vector()
    reference = hash_reference("MLS 1.0 KeyPackage Reference", reader.since(start))
    return KeyPackage(leaf, reference, signed, signature)


def read_leaf(reader: WireReader) -> LeafNode:
    """The leaf node that begins here."""
    start = reader.at
    reader.vector()  # the encryption key
    signature_key = reader.vector()
    if reader.number(2) != BASIC_CREDENTIAL:
        raise KeyPackageInvalid
    account_id, device_id = _read_identity(reader.vector())
    for _ in range(5):  # capabilities: versions, cipher suites, extensions, proposals, credentials
        reader.vector()
    source, not_after = reader.number(1), None
    if source == IN_KEY_PACKAGE:
        reader.number(8)
        not_after = reader.number(8)
    elif source == IN_COMMIT:
        reader.vector()  # the parent hash
    elif source != IN_UPDATE:
        raise EncodingInvalid
    reader.vector()  # extensions
    return LeafNode(account_id, device_id, signature_key, not_after, reader.since(start), reader.vector())


def check_signatures(package: KeyPackage) -> None:
    """Refuse a key package that the holder of its signature key has not signed."""
    _verify(package.leaf.signature_key, "LeafNodeTBS", package.leaf.signed, package.leaf.signature)
    _verify(package.leaf.signature_key, "KeyPackageTBS", package.signed, package.signature)


def hash_reference(label: str, value: bytes) -> bytes:
    """RefHash of RFC 9420, section 5.2."""
    return hashlib.sha256(write_vector(label.encode()) + write_vector(value)).digest()


def _verify(key: bytes, label: str, signed: bytes, signature: bytes) -> None:
    content = write_vector(f"MLS 1.0 {label}".encode()) + write_vector(signed)
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(signature, content)
    except (InvalidSignature, ValueError) as error:
        raise KeyPackageInvalid from error


def _read_identity(identity: bytes) -> tuple[AccountId, DeviceId]:
    account, _, device = identity.decode("ascii", "replace").partition(".")
    if not (account.isdigit() and device.isdigit() and len(identity) <= 40):  # noqa: PLR2004 - two ids
        raise KeyPackageInvalid
    if not 0 < max(int(account), int(device)) <= LARGEST_ID:
        raise KeyPackageInvalid
    return AccountId(int(account)), DeviceId(int(device))
