"""Ports: chosen once, kept across starts, and never a clash between two homes on one machine.

Servers that only we talk to take a random free port below the kernel's range for outgoing connections, so
that no passing connection sits on it at the next start. Ports that people type have a preferred number. What is
chosen is claimed until it is let go, since a stack that starts in the same second would choose the same.
"""

import errno
import secrets
import socket
from pathlib import Path

import msgspec

from tintype.stack.claims import Claims
from tintype.stack.errors import PortTaken
from tintype.stack.home import write_private
from tintype.stack.processes import find_listener

_INTERNAL = range(15_000, 32_000)
_NEIGHBOURS = 200
_LAST = 65_535


class Ports:
    """The ports of one home, by name."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._kept: dict[str, int] = _read(file)
        self._claims = Claims()
        self.notes: list[str] = []
        """What a person should know: which port had to be avoided, and why."""

    def choose_internal(self, name: str) -> int:
        """Return the port a private server keeps, or a new one when that is taken."""
        kept = self._kept.get(name)
        if kept is not None:
            obstacle = self._claim("127.0.0.1", kept)
            if obstacle is None:
                return kept
            self.notes.append(f"{name}: port {kept} {obstacle}, moving to another")
        return self._keep(name, self._random())

    def choose_public(self, name: str, host: str, preferred: int, *, is_fixed: bool) -> int:
        """Return the port people use: the preferred or kept one, or the next free unless it is fixed."""
        if is_fixed:
            obstacle = self._claim(host, preferred)
            if obstacle is not None:
                raise PortTaken(
                    f"{name}: port {preferred} {obstacle}. Remove what is in the way, or choose another port.",
                    port=preferred,
                )
            return self._keep(name, preferred)
        kept = self._kept.get(name)
        if kept is not None and self._claim(host, kept) is None:
            return kept
        return self._keep(name, self._next_free(name, host, preferred))

    def let_go(self) -> None:
        """The servers have ended: others may have their ports, which are still preferred at the next start."""
        self._claims.give_up_all()

    def _next_free(self, name: str, host: str, preferred: int) -> int:
        others = {port for other, port in self._kept.items() if other != name}
        first = "is kept for another server"
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
        others = set(self._kept.values())
        while True:
            port = secrets.choice(_INTERNAL)
            if port not in others and self._claim("127.0.0.1", port) is None:
                return port

    def _claim(self, host: str, port: int) -> str | None:
        """Have the port for ourselves, or say why not."""
        if not self._claims.take(port):
            return f"is taken by {find_listener(port) or 'another Tintype that is starting'}"
        obstacle = find_obstacle(host, port)
        if obstacle is not None:
            self._claims.give_up(port)
        return obstacle

    def _keep(self, name: str, port: int) -> int:
        if self._kept.get(name) != port:
            self._kept[name] = port
            write_private(self._file, msgspec.json.encode(self._kept).decode())
        return port


def is_free(host: str, port: int) -> bool:
    """Tell whether a server could listen there now; connections that are just closing do not count."""
    return find_obstacle(host, port) is None


def find_obstacle(host: str, port: int) -> str | None:
    """Say why a server could not listen there now, such as `is taken by nginx, pid 80`."""
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
        return {}  # only a memory: without it, ports are chosen anew
