"""The probe: proves at the start that NATS asks the auth callout, and believes what it answers.

A NATS server without the callout, or with the public key of another installation, would refuse every device, or with a
default user let everybody in. The probe connects as a user that only the callout knows, and then with a wrong password.
"""

import asyncio
import hashlib
import hmac
import ssl
import time
from urllib.parse import urlsplit

import msgspec

from tintype.base.settings import Settings
from tintype.realtime.errors import CalloutMissing, ConnectRefused

PROBE_USER = "tintype-probe"
LIFE_S = 30
TIMEOUT_S = 10
ATTEMPTS, PAUSE_S = 3, 1.0
DEFAULT_PORT = 4222


class Probe:
    """A user without any rights, which every process of the installation can make and recognise."""

    def __init__(self, secret_key: bytes) -> None:
        self._key = hmac.new(secret_key, b"realtime probe", hashlib.sha256).digest()

    def check(self, password: str) -> None:
        """Refuse a password that is not the installation's, or is old."""
        expires_at, _, mac = password.partition(".")
        if not expires_at.isdigit() or not hmac.compare_digest(mac.encode(), self._mac(expires_at).encode()):
            raise ConnectRefused(reason="probe")
        if int(expires_at[:12]) < time.time():
            raise ConnectRefused(reason="expired")

    async def run(self, settings: Settings) -> None:
        """Raise `CalloutMissing` unless NATS admits the probe, and refuses one with a wrong password."""
        for attempt in range(1, ATTEMPTS + 1):
            expires_at = str(int(time.time()) + LIFE_S)
            if await _may_connect(settings, f"{expires_at}.{self._mac(expires_at)}"):
                break
            if attempt == ATTEMPTS:
                raise CalloutMissing
            await asyncio.sleep(PAUSE_S)  # a busy machine may have answered NATS too late
        if await _may_connect(settings, "wrong"):
            raise CalloutMissing("NATS lets strangers in. Remove its default user (no_auth_user).")

    def _mac(self, expires_at: str) -> str:
        return hmac.new(self._key, expires_at.encode(), hashlib.sha256).hexdigest()


async def _may_connect(settings: Settings, password: str) -> bool:
    return any([await may_connect(address, PROBE_USER, password) for address in settings.nats])


async def may_connect(address: str, user: str, password: str) -> bool:
    """Whether a NATS server admits a user, by its own protocol; the connection is closed at once."""
    parts = urlsplit(address)
    try:
        async with asyncio.timeout(TIMEOUT_S):
            reader, writer = await asyncio.open_connection(parts.hostname, parts.port or DEFAULT_PORT)
            try:
                return await _sign_in(reader, writer, parts.hostname or "", user, password)
            finally:
                writer.close()
    except (OSError, TimeoutError):
        return False


async def _sign_in(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, host: str, user: str, password: str
) -> bool:
    info = msgspec.json.decode((await reader.readline()).removeprefix(b"INFO "))
    if info.get("tls_required"):
        await writer.start_tls(ssl.create_default_context(), server_hostname=host)
    options = {"user": user, "pass": password, "verbose": False, "pedantic": False, "lang": "tintype"}
    writer.write(b"CONNECT %b\r\nPING\r\n" % msgspec.json.encode(options))
    await writer.drain()
    return (await reader.readline()).startswith(b"PONG")
