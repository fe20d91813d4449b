"""Port claims: a chosen port counts as taken for every other stack on this machine before anything listens on it.

Seconds pass between choosing a port and listening on it, and a stack that starts in the same second would find that
port free too. A claim is a name in Linux's abstract socket namespace: only one process can hold it, it belongs to the
network namespace as ports do, it needs no file, and the kernel releases it when its holder dies.
"""

import errno
import socket
import sys


class PortClaims:
    """The ports that this process has claimed."""

    def __init__(self) -> None:
        self._held: dict[int, socket.socket] = {}

    def claim(self, port: int) -> bool:
        """Claim a port; False when another stack holds it. Outside Linux claims are not visible to other stacks."""
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

    def release(self, port: int) -> None:
        """Release the claim on a port."""
        claim = self._held.pop(port, None)
        if claim is not None:
            claim.close()

    def release_all(self) -> None:
        """Release every claim."""
        for port in list(self._held):
            self.release(port)
