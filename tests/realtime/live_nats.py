"""A NATS server with the auth callout and MQTT, as the embedded stack configures it, which a test may kill."""

import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from tests.web_process import free_port
from tintype.base.nats_keys import IssuerKey
from tintype.base.secret_key import secret_key
from tintype.base.settings import Settings
from tintype.stack.data_directory import DataDirectory
from tintype.stack.nats import NatsPorts, check_nats, nats_program, nats_url
from tintype.stack.program import Program

PATIENCE_S = 30.0


@dataclass
class LiveNats:
    """The server, its ports and its process."""

    settings: Settings
    """Of the installation, with this server in them."""
    ports: NatsPorts
    program: Program
    process: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    @classmethod
    def prepare(cls, settings: Settings, folder: Path) -> "LiveNats":
        """Write its configuration; nothing is started yet."""
        ports = NatsPorts(free_port(), free_port(), free_port())
        folder.mkdir()
        program, url = nats_program(
            DataDirectory(folder),
            "127.0.0.1",
            ports,
            password="pass",
            system_password="system",
            issuer=IssuerKey(secret_key(settings)).public,
        )
        live = msgspec.structs.replace(
            settings,
            nats=(url,),
            realtime=True,
            nats_system=nats_url(ports.port, "system", user="system"),
            mqtt_upstream=f"127.0.0.1:{ports.mqtt_port}",
        )
        return cls(live, ports, program)

    async def start(self) -> None:
        """Start it, and wait until it answers."""
        log = (self.program.cwd or Path()) / "nats.log"
        with log.open("ab") as output:
            self.process = subprocess.Popen(  # noqa: ASYNC220 - starts in a moment
                self.program.command, cwd=self.program.cwd, stdout=output, stderr=output
            )
        deadline = time.monotonic() + PATIENCE_S
        while True:
            try:
                await check_nats(self.settings.nats)
            except Exception:  # noqa: BLE001 - not ready yet, whatever it says
                assert self.process.poll() is None, log.read_text()[-3000:]
                assert time.monotonic() < deadline, log.read_text()[-3000:]
            else:
                return

    def kill(self) -> None:
        """End it with SIGKILL."""
        assert self.process is not None
        self.process.kill()
        self.process.wait()
