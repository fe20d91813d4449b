"""Commits, proposals, welcomes and headers of messages (RFC 9420, sections 6 and 12), as the server reads them."""

from dataclasses import dataclass

from tintype.direct.encryption.errors import CommitInvalid, EncodingInvalid
from tintype.direct.encryption.key_package_format import (
    MLS_10,
    KeyPackage,
    LeafNode,
    hash_reference,
    read_key_package,
    read_leaf,
)
from tintype.direct.encryption.wire import WireReader

PUBLIC_MESSAGE, PRIVATE_MESSAGE, WELCOME = 1, 2, 3
APPLICATION, PROPOSAL, COMMIT = 1, 2, 3
FROM_MEMBER = 1
ADD, REMOVE = 1, 3
BY_VALUE, BY_REFERENCE = 1, 2


@dataclass(frozen=True)
class Header:
    """Which group and epoch a message belongs to, and which leaf sent it."""

    group_id: bytes
    epoch: int
    leaf_index: int


@dataclass(frozen=True)
class Commit:
    """What a commit changes in the tree."""

    header: Header
    adds: list[KeyPackage]
    removes: list[int]
    references: list[bytes]
    """Proposals of others that it takes up."""
    path_leaf: LeafNode | None
    """The committer's own leaf with new keys."""


@dataclass(frozen=True)
class RemoveProposal:
    """Somebody asks for the removal of a leaf."""

    header: Header
    leaf_index: int
    reference: bytes


def read_commit(content: bytes) -> Commit:
    """A commit that travels as a PublicMessage. It may add and remove leaves, and nothing else."""
    reader = WireReader(content)
    header = _read_public_header(reader, COMMIT)
    adds: list[KeyPackage] = []
    removes: list[int] = []
    references: list[bytes] = []

    def read_proposal(inner: WireReader) -> None:
        form = inner.number(1)
        if form == BY_REFERENCE:
            references.append(inner.vector())
            return
        kind = inner.number(2) if form == BY_VALUE else 0
        if kind == ADD:
            adds.append(read_key_package(inner))
        elif kind == REMOVE:
            removes.append(inner.number(4))
        else:
            raise CommitInvalid

    reader.items(read_proposal)
    path_leaf = _read_path(reader) if reader.number(1) else None
    for _ in range(3):  # signature, confirmation tag, membership tag
        reader.vector()
    reader.end()
    return Commit(header, adds, removes, references, path_leaf)


def read_remove_proposal(content: bytes) -> RemoveProposal:
    """The proposal of a removal that travels as a PublicMessage."""
    reader = WireReader(content)
    header = _read_public_header(reader, PROPOSAL)
    if reader.number(2) != REMOVE:
        raise CommitInvalid
    leaf_index = reader.number(4)
    reader.vector()  # the signature
    # A reference covers the wire format, the content and its signature: all but the version and the membership tag.
    reference = hash_reference("MLS 1.0 Proposal Reference", reader.since(2))
    reader.vector()
    reader.end()
    return RemoveProposal(header, leaf_index, reference)


def read_welcome(content: bytes) -> list[bytes]:
    """The references of the key packages that a welcome is for."""
    reader = WireReader(content)
    _check_format(reader, WELCOME)
    reader.number(2)  # the cipher suite

    def read_secrets(inner: WireReader) -> bytes:
        reference = inner.vector()
        inner.vector()
        inner.vector()
        return reference

    references = reader.items(read_secrets)
    reader.vector()
    reader.end()
    return references


def read_ciphertext(content: bytes) -> tuple[bytes, int]:
    """Group and epoch of an application message that travels as a PrivateMessage."""
    reader = WireReader(content)
    _check_format(reader, PRIVATE_MESSAGE)
    group_id, epoch = reader.vector(), reader.number(8)
    if reader.number(1) != APPLICATION:
        raise EncodingInvalid
    for _ in range(3):  # authenticated data, encrypted sender, ciphertext
        reader.vector()
    reader.end()
    return group_id, epoch


def _read_public_header(reader: WireReader, content_type: int) -> Header:
    _check_format(reader, PUBLIC_MESSAGE)
    group_id, epoch = reader.vector(), reader.number(8)
    if reader.number(1) != FROM_MEMBER:
        raise CommitInvalid
    leaf_index = reader.number(4)
    reader.vector()  # authenticated data
    if reader.number(1) != content_type:
        raise EncodingInvalid
    return Header(group_id, epoch, leaf_index)


def _read_path(reader: WireReader) -> LeafNode:
    leaf = read_leaf(reader)

    def read_node(inner: WireReader) -> None:
        inner.vector()
        inner.items(lambda each: (each.vector(), each.vector()))

    reader.items(read_node)
    return leaf


def _check_format(reader: WireReader, wire_format: int) -> None:
    if reader.number(2) != MLS_10 or reader.number(2) != wire_format:
        raise EncodingInvalid
