"""The embedded servers and Tintype's own processes, started, watched and stopped together.

Owns the data directory's layout, ports, secrets of the embedded servers, logs and run state. It knows nothing
of photos: what it runs are programs with a readiness check. Only the command line and tests import it.
"""

from tintype.stack.addresses import find_addresses
from tintype.stack.applications import Applications, tintype_programs
from tintype.stack.checks import Finding, Verdict, examine
from tintype.stack.connections import Connections
from tintype.stack.console import Screen
from tintype.stack.errors import (
    AlreadyRunning,
    EngineMissing,
    EngineUnreachable,
    HomeUnusable,
    PortTaken,
    StartFailed,
    StopFailed,
)
from tintype.stack.existing import examine_existing
from tintype.stack.following import follow
from tintype.stack.foreground import run_until_asked
from tintype.stack.home import Home, place_home
from tintype.stack.logs import last_lines, names_of
from tintype.stack.overview import Overview, ProcessView, look
from tintype.stack.plan import Plan, plan_from
from tintype.stack.program import Program, Stage
from tintype.stack.state import Phase
from tintype.stack.stopping import Outcome, stop_running
from tintype.stack.supervisor import Stack

__all__ = [
    "AlreadyRunning",
    "Applications",
    "Connections",
    "EngineMissing",
    "EngineUnreachable",
    "Finding",
    "Home",
    "HomeUnusable",
    "Outcome",
    "Overview",
    "Phase",
    "Plan",
    "PortTaken",
    "ProcessView",
    "Program",
    "Screen",
    "Stack",
    "Stage",
    "StartFailed",
    "StopFailed",
    "Verdict",
    "examine",
    "examine_existing",
    "find_addresses",
    "follow",
    "last_lines",
    "look",
    "names_of",
    "place_home",
    "plan_from",
    "run_until_asked",
    "stop_running",
    "tintype_programs",
]
