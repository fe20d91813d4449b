"""A passkey in software: makes ES256 keys and answers questions as a phone would, or as a thief might."""

import base64
import hashlib
import json
import secrets
from dataclasses import dataclass, field
from typing import Any

import cbor2
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec

PRESENT, VERIFIED, ATTESTED = 0x01, 0x04, 0x40


def b64(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def unb64(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


@dataclass
class Authenticator:
    """One device with one key."""

    origin: str
    verifies: bool = True
    counter: int = 0
    counts: bool = True
    key: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))
    credential_id: bytes = field(default_factory=lambda: secrets.token_bytes(32))
    handle: bytes = b""
    framed: dict[str, Any] = field(default_factory=dict[str, Any])
    """What a browser adds to its answer inside a frame of another site."""
    rp_id: str = ""

    def make(self, options: dict[str, Any]) -> dict[str, Any]:
        """The answer to `navigator.credentials.create`."""
        self.rp_id, self.handle = options["rp"]["id"], unb64(options["user"]["id"])
        numbers = self.key.public_key().public_numbers()
        point = {-2: numbers.x.to_bytes(32), -3: numbers.y.to_bytes(32)}
        public_key = cbor2.dumps({1: 2, 3: -7, -1: 1, **point})
        attested = bytes(16) + len(self.credential_id).to_bytes(2) + self.credential_id + public_key
        data = self._data(ATTESTED) + attested
        return self._answer(
            {
                "clientDataJSON": b64(self._client_data("webauthn.create", options["challenge"])),
                "attestationObject": b64(cbor2.dumps({"fmt": "none", "attStmt": {}, "authData": data})),
                "transports": ["internal"],
            }
        )

    def answer(self, options: dict[str, Any], **changed: Any) -> dict[str, Any]:
        """The answer to `navigator.credentials.get`."""
        self.counter += self.counts
        client_data = self._client_data("webauthn.get", options["challenge"])
        data = self._data(0)
        signed = data + hashlib.sha256(client_data).digest()
        return self._answer(
            {
                "clientDataJSON": b64(client_data),
                "authenticatorData": b64(data),
                "signature": b64(self.key.sign(signed, ec.ECDSA(hashes.SHA256()))),
                "userHandle": b64(self.handle),
                **changed,
            }
        )

    def _data(self, flags: int) -> bytes:
        flags |= PRESENT | (VERIFIED if self.verifies else 0)
        return hashlib.sha256(self.rp_id.encode()).digest() + bytes([flags]) + self.counter.to_bytes(4)

    def _client_data(self, kind: str, challenge: str) -> bytes:
        data = {"type": kind, "challenge": challenge, "origin": self.origin, **self.framed}
        return json.dumps(data).encode()

    def _answer(self, response: dict[str, Any]) -> dict[str, Any]:
        name = b64(self.credential_id)
        return {"id": name, "rawId": name, "type": "public-key", "response": response}
