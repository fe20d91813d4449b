"""Port allocation: chosen once, reused across starts, and without conflicts between two stacks on one machine.

Internal servers get a random free port below the kernel's ephemeral range, so that no outgoing connection occupies
it at the next start. Public ports have a preferred number. A chosen port is claimed until it is released, since a
stack that starts in the same second would choose the same one.
"""

import errno
import secrets
import socket
from pathlib import Path

import msgspec

from tintype.stack.data_directory import write_private
from tintype.stack.errors import PortTaken
from tintype.stack.port_claims import PortClaims
from tintype.stack.processes import find_listener

_INTERNAL = range(15_000, 32_000)
_NEIGHBOURS = 200
_LAST = 65_535


class Ports:
    """The ports of one data directory, by name."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._saved: dict[str, int] = _read(file)
        self._claims = PortClaims()
        self.notes: list[str] = []
        """Messages for the operator: which port was taken, and by what."""

    def choose_internal(self, name: str) -> int:
        """Return the internal server's saved port, or a new one when that is taken."""
        saved = self._saved.get(name)
        if saved is not None:
            obstacle = self._claim("127.0.0.1", saved)
            if obstacle is None:
                return saved
            self.notes.append(f"{name}: port {saved} {obstacle}, moving to another")
        return self._save(name, self._random())

    def choose_public(self, name: str, host: str, preferred: int, *, is_fixed: bool) -> int:
        """Return the public port: the preferred or saved one, or the next free one unless it is fixed."""
        if is_fixed:
            obstacle = self._claim(host, preferred)
            if obstacle is not None:
                raise PortTaken(
                    f"{name}: port {preferred} {obstacle}. Stop that program, or choose another port.",
                    port=preferred,
                )
            return self._save(name, preferred)
        saved = self._saved.get(name)
        if saved is not None and self._claim(host, saved) is None:
            return saved
        return self._save(name, self._next_free(name, host, preferred))

    def release(self) -> None:
        """Release all claims once the servers have stopped; the ports stay preferred at the next start."""
        self._claims.release_all()

    def _next_free(self, name: str, host: str, preferred: int) -> int:
        others = {port for other, port in self._saved.items() if other != name}
        first = "is reserved for another server"
        for port in range(preferred, min(preferred + _NEIGHBOURS, _LAST + 1)):
            if port in others:
                continue
            obstacle = self._claim(host, port)
            if obstacle is None:
                if port != preferred:
                    self.notes.append(f"{name}: port {preferred} {first}, using {port}")
                return port
            first = obstacle if port == preferred else first
        return self._random()

    def _random(self) -> int:
        others = set(self._saved.values())
        while True:
            port = secrets.choice(_INTERNAL)
            if port not in others and self._claim("127.0.0.1", port) is None:
                return port

    def _claim(self, host: str, port: int) -> str | None:
        """Claim the port; return the reason when that is not possible."""
        if not self._claims.claim(port):
            return f"is taken by {find_listener(port) or 'another Tintype that is starting'}"
        obstacle = find_obstacle(host, port)
        if obstacle is not None:
            self._claims.release(port)
        return obstacle

    def _save(self, name: str, port: int) -> int:
        if self._saved.get(name) != port:
            self._saved[name] = port
            write_private(self._file, msgspec.json.encode(self._saved).decode())
        return port


def find_obstacle(host: str, port: int) -> str | None:
    """Return why a server could not listen there now, such as `is taken by nginx, pid 80`; None when it could.

    Connections in TIME_WAIT do not count.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except PermissionError:
        return "is reserved for root"
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            return f"cannot be used at {host} ({error.strerror})"
        return f"is taken by {find_listener(port) or 'another program'}"
    return None


def _read(file: Path) -> dict[str, int]:
    try:
        return msgspec.json.decode(file.read_bytes(), type=dict[str, int])
    except (FileNotFoundError, msgspec.DecodeError):
        return {}  # ports are chosen again
