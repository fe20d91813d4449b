"""Embedded NATS server: JetStream for jobs, on loopback and with a password; MQTT only where live connections are on.

JetStream's data may be lost: the outbox in PostgreSQL keeps relayed events for a while and publishes them again.
"""

import asyncio
from dataclasses import dataclass

import nats

from tintype.stack.binaries import find_nats
from tintype.stack.data_directory import DataDirectory, write_private
from tintype.stack.engine_account import engine_account
from tintype.stack.program import Program, Stage

_TIMEOUT_S = 3
_KEPT_MESSAGES = ("Server is ready", "Trapped", "Server Exiting")
_EXPECTED_WARNINGS = (
    *("Plaintext passwords", "Websocket not configured with TLS"),
    *("Auth callout service returned an error", "authentication error", "Subscription Violation"),
    *("Publish Violation", "Unable to create subscription for JetStream consumer"),
)
"""Warnings about deliberate choices (the file is private, TLS is terminated by the proxy), and about what devices were
refused: any number of them can ask for it, and the auth callout logs who."""
_CONFIGURATION = """\
server_name: "{name}"
listen: "127.0.0.1:{port}"
logtime: false
max_payload: 1MB
max_pending: 64MB
write_deadline: "10s"
jetstream {{
  store_dir: "{store}"
  max_memory_store: 256MB
  max_file_store: 10GB
  # Each MQTT session is a consumer, and the server's own default stops at a thousand.
  limits {{ default_max_consumers: -1 }}
}}
accounts {{
  TINTYPE {{ jetstream: enabled, users: [ {{ user: "tintype", password: "{password}" }} ] }}
  SYS {{ users: [ {{ user: "system", password: "{system_password}" }} ] }}
}}
system_account: SYS
"""
_CALLOUT = """\
authorization {{
  timeout: 5
  auth_callout {{ issuer: "{issuer}", account: TINTYPE, auth_users: [ "tintype", "system" ] }}
}}
"""
_MQTT = """\
mqtt {{
  listen: "{host}:{port}"
  reject_qos2_publish: true
  downgrade_qos2_subscribe: true
  consumer_inactive_threshold: "60s"
}}
"""
_WEBSOCKET = 'websocket {{ listen: "{host}:{port}", no_tls: true }}\n'


@dataclass(frozen=True)
class NatsPorts:
    """NATS ports: for our own clients, and for MQTT clients; zero means that nothing listens."""

    port: int
    mqtt_port: int
    mqtt_ws_port: int
    mqtt_host: str = "127.0.0.1"
    """Where it listens for MQTT."""


def nats_program(
    home: DataDirectory, host: str, ports: NatsPorts, *, password: str, system_password: str, issuer: str = ""
) -> tuple[Program, str]:
    """Return the program and its URL. With an issuer, it asks the auth callout who else may connect."""
    account = engine_account()
    folder = home.create_private(home.root / "nats", account)
    configuration = folder / "nats.conf"
    text = _CONFIGURATION.format(
        name=f"tintype-{ports.port}",
        store=folder,
        password=password,
        system_password=system_password,
        port=ports.port,
    )
    text += _CALLOUT.format(issuer=issuer) if issuer else ""
    listeners = ((_MQTT, ports.mqtt_host, ports.mqtt_port), (_WEBSOCKET, host, ports.mqtt_ws_port))
    for listener, listen_on, port in listeners if issuer else ():
        text += listener.format(host=listen_on, port=port) if port else ""
    write_private(configuration, text, account)
    url = nats_url(ports.port, password)
    program = Program(
        name="nats",
        command=(str(find_nats().path), "-c", str(configuration)),
        stage=Stage.NATS,
        cwd=folder,
        account=account,
        ready=lambda: check_nats((url,)),
        grace_s=10.0,
        port=ports.port,
        clean_line=_clean_line,
    )
    return program, url


def nats_url(port: int, password: str, *, user: str = "tintype") -> str:
    """The URL of the embedded server, with the password of this user."""
    return f"nats://{user}:{password}@127.0.0.1:{port}"


async def check_nats(urls: tuple[str, ...]) -> None:
    """Raise unless a server answers and has JetStream."""

    async def ignore(_: Exception) -> None:
        """Ignored: the error is also raised, and the client would log it a second time."""

    async with asyncio.timeout(_TIMEOUT_S * 2):
        client = await nats.connect(
            servers=list(urls), connect_timeout=_TIMEOUT_S, allow_reconnect=False, error_cb=ignore
        )
        try:
            await client.jetstream(timeout=_TIMEOUT_S).account_info()
        finally:
            await client.close()


def _clean_line(line: str) -> str:
    """Drop the pid, and informational lines other than the few worth keeping."""
    text = line.partition("] ")[2] if line.startswith("[") else line
    is_kept = any(each in text for each in _KEPT_MESSAGES) if text.startswith("[INF]") else True
    return text if is_kept and not any(each in text for each in _EXPECTED_WARNINGS) else ""
