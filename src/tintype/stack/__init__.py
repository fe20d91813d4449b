"""Process supervisor: the embedded servers and Tintype's own processes, started, restarted and stopped together.

Owns the data directory's layout, the ports, the embedded servers' secrets, log files and run state. It knows nothing
of photos: it runs programs with a readiness check. Only the command line, backups and tests import it.
"""

from tintype.stack.addresses import find_addresses
from tintype.stack.applications import Applications, no_programs, tintype_programs
from tintype.stack.cluster_checks import check_engines
from tintype.stack.connections import Connections
from tintype.stack.console import LogConsole
from tintype.stack.data_directory import DataDirectory, choose_data_directory, write_private
from tintype.stack.doctor_checks import Finding, Verdict, run_checks
from tintype.stack.engine_account import ENGINE_ACCOUNT, engine_account
from tintype.stack.errors import (
    AlreadyRunning,
    DataDirectoryUnusable,
    EngineMissing,
    EngineUnreachable,
    PortTaken,
    StartFailed,
    StopFailed,
)
from tintype.stack.existing_servers import check_existing_servers, check_replicas
from tintype.stack.follow_logs import follow_logs
from tintype.stack.foreground import run_until_stopped
from tintype.stack.logs import last_lines, log_names
from tintype.stack.move_status import MoveStatus, check_moves, read_move_status
from tintype.stack.plan import StackPlan, stack_plan
from tintype.stack.ports import find_obstacle
from tintype.stack.process_memory import MemoryUse, command_of, memory_of, memory_of_tree, sum_of, tree
from tintype.stack.program import Program, Stage
from tintype.stack.replica_status import ReplicaState, ReplicaStatus, read_replicas
from tintype.stack.split_site import find_splits, fingerprint
from tintype.stack.state import Phase
from tintype.stack.status import ProcessStatus, StackStatus, read_status
from tintype.stack.stop import StopOutcome, stop_running
from tintype.stack.supervisor import Stack

__all__ = [
    "ENGINE_ACCOUNT",
    "AlreadyRunning",
    "Applications",
    "Connections",
    "DataDirectory",
    "DataDirectoryUnusable",
    "EngineMissing",
    "EngineUnreachable",
    "Finding",
    "LogConsole",
    "MemoryUse",
    "MoveStatus",
    "Phase",
    "PortTaken",
    "ProcessStatus",
    "Program",
    "ReplicaState",
    "ReplicaStatus",
    "Stack",
    "StackPlan",
    "StackStatus",
    "Stage",
    "StartFailed",
    "StopFailed",
    "StopOutcome",
    "Verdict",
    "check_engines",
    "check_existing_servers",
    "check_moves",
    "check_replicas",
    "choose_data_directory",
    "command_of",
    "engine_account",
    "find_addresses",
    "find_obstacle",
    "find_splits",
    "fingerprint",
    "follow_logs",
    "last_lines",
    "log_names",
    "memory_of",
    "memory_of_tree",
    "no_programs",
    "read_move_status",
    "read_replicas",
    "read_status",
    "run_checks",
    "run_until_stopped",
    "stack_plan",
    "stop_running",
    "sum_of",
    "tintype_programs",
    "tree",
    "write_private",
]
