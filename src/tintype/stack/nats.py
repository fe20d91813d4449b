"""Embedded NATS: jobs through JetStream, clients through MQTT and MQTT over WebSocket.

What JetStream holds may be lost: the outbox in PostgreSQL keeps relayed events for a while and refills it.
"""

import asyncio
from dataclasses import dataclass

import nats

from shardwright.local import server_account
from tintype.stack.binaries import find_nats
from tintype.stack.home import Home, write_private
from tintype.stack.program import Program, Stage

_TIMEOUT_S = 3
_WORTH_KEEPING = ("Server is ready", "Trapped", "Server Exiting")
_KNOWN = ("Plaintext passwords", "Websocket not configured with TLS")
"""Warnings about choices made here: the file is private, and encryption is the proxy's business."""
_CONFIGURATION = """\
server_name: "{name}"
listen: "127.0.0.1:{port}"
http: "127.0.0.1:{monitor_port}"
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
mqtt {{ listen: "{host}:{mqtt_port}" }}
websocket {{ listen: "{host}:{mqtt_ws_port}", no_tls: true }}
"""


@dataclass(frozen=True)
class NatsPorts:
    """Where NATS listens: for us, for its own figures, and for clients."""

    port: int
    monitor_port: int
    mqtt_port: int
    mqtt_ws_port: int


def nats_program(
    home: Home, host: str, ports: NatsPorts, *, password: str, system_password: str
) -> tuple[Program, str]:
    """Return the program and its URL."""
    account = server_account()
    folder = home.own(home.root / "nats", account)
    configuration = folder / "nats.conf"
    text = _CONFIGURATION.format(
        name=f"tintype-{ports.port}",
        store=folder,
        host=host,
        password=password,
        system_password=system_password,
        port=ports.port,
        monitor_port=ports.monitor_port,
        mqtt_port=ports.mqtt_port,
        mqtt_ws_port=ports.mqtt_ws_port,
    )
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
        tidy=_tidy,
    )
    return program, url


def nats_url(port: int, password: str) -> str:
    """How clients reach the embedded server."""
    return f"nats://tintype:{password}@127.0.0.1:{port}"


async def check_nats(urls: tuple[str, ...]) -> None:
    """Raise unless a server answers and has JetStream."""

    async def ignore(_: Exception) -> None:
        """The failure is raised as well; the client would log it besides."""

    async with asyncio.timeout(_TIMEOUT_S * 2):
        client = await nats.connect(
            servers=list(urls), connect_timeout=_TIMEOUT_S, allow_reconnect=False, error_cb=ignore
        )
        try:
            await client.jetstream(timeout=_TIMEOUT_S).account_info()
        finally:
            await client.close()


def _tidy(line: str) -> str:
    """Drop the pid, and of the many lines of a start all but the news."""
    said = line.partition("] ")[2] if line.startswith("[") else line
    is_news = any(each in said for each in _WORTH_KEEPING) if said.startswith("[INF]") else True
    return said if is_news and not any(each in said for each in _KNOWN) else ""
