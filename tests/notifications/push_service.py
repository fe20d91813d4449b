"""A push service for tests: receives messages over HTTP; browsers decrypt them with their keys."""

import asyncio
import base64
import json
import secrets
import ssl
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import http_ece
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from cryptography.x509.oid import NameOID
from py_vapid import Vapid02

from tests.support import Person


@dataclass
class Browser:
    """A subscribed browser with its keys."""

    endpoint: str
    private_key: ec.EllipticCurvePrivateKey = field(
        default_factory=lambda: ec.generate_private_key(ec.SECP256R1())
    )
    auth: bytes = field(default_factory=lambda: secrets.token_bytes(16))

    async def subscribe(self, person: Person) -> Any:
        return await person.call("POST", "/push/subscriptions", json=self.subscription())

    def subscription(self) -> dict[str, Any]:
        point = self.private_key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
        return {"endpoint": self.endpoint, "keys": {"p256dh": _text(point), "auth": _text(self.auth)}}

    def read(self, body: bytes) -> dict[str, Any]:
        return json.loads(http_ece.decrypt(body, private_key=self.private_key, auth_secret=self.auth))


@dataclass
class PushService:
    """The messages received, and how the next ones are answered."""

    url: str = ""
    answers: list[int] = field(default_factory=list[int])
    """Status codes of the next answers; 201 when the list is empty."""
    trust: ssl.SSLContext | bool = True
    received: list[tuple[dict[str, str], bytes]] = field(default_factory=list[tuple[dict[str, str], bytes]])

    def browser(self) -> Browser:
        return Browser(f"{self.url}/{secrets.token_hex(8)}")

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := (await reader.readuntil(b"\r\n\r\n")).decode("latin-1"):
                pairs = (line.split(": ", 1) for line in head.split("\r\n")[1:] if line)
                headers = {name.lower(): value for name, value in pairs}
                body = await reader.readexactly(int(headers["content-length"]))
                status = self.answers.pop(0) if self.answers else 201
                if status == 201:
                    assert Vapid02.verify(headers["authorization"])
                    self.received.append((headers, body))
                writer.write(f"HTTP/1.1 {status} X\r\nContent-Length: 0\r\n\r\n".encode())
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


@asynccontextmanager
async def running_push_service(
    *, tls_name: str = "", folder: Path | None = None
) -> AsyncGenerator[PushService]:
    """A local push service; with a host name, over TLS with a certificate for it."""
    service = PushService()
    context = _certify(service, tls_name, folder) if folder else None
    server = await asyncio.start_server(service.serve, "127.0.0.1", 0, ssl=context)
    service.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    yield service
    server.close()


def _certify(service: PushService, name: str, folder: Path) -> ssl.SSLContext:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder(subject, subject, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    plain = (Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    (folder / "key.pem").write_bytes(key.private_bytes(*plain))
    (folder / "certificate.pem").write_bytes(certificate.public_bytes(Encoding.PEM))
    service.trust = ssl.create_default_context(cafile=str(folder / "certificate.pem"))
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(folder / "certificate.pem", folder / "key.pem")
    return context


def _text(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")
