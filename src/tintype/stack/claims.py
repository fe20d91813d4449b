"""Claims on ports: told to every other stack on this machine from the moment a port is chosen.

Seconds pass between choosing a port and a server that listens on it, and a stack that starts in the same second finds
that port as free as we did. A claim is a name in Linux's abstract socket namespace: only one process can hold it, it
belongs to the network namespace as ports do, it needs no file, and the kernel takes it back when its holder dies.
"""

import errno
import socket
import sys


class Claims:
    """The ports that this process has claimed."""

    def __init__(self) -> None:
        self._held: dict[int, socket.socket] = {}

    def take(self, port: int) -> bool:
        """Claim a port; false when another stack has. Elsewhere than on Linux nothing can be told to the others."""
        if port in self._held or sys.platform != "linux":
            return True
        claim = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            claim.bind(f"\0tintype-port-{port}")
        except OSError as error:
            claim.close()
            return error.errno != errno.EADDRINUSE
        self._held[port] = claim
        return True

    def give_up(self, port: int) -> None:
        """Leave a port to others."""
        claim = self._held.pop(port, None)
        if claim is not None:
            claim.close()

    def give_up_all(self) -> None:
        """Leave everything to others."""
        for port in list(self._held):
            self.give_up(port)
