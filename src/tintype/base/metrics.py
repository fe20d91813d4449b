"""Metrics of several processes in one answer.

prometheus_client shares counters between processes through files; it reads the folder's name from the environment
when it is first imported, so the folder is chosen by whoever starts the processes.
"""

import os
import shutil
from pathlib import Path

from prometheus_client import CollectorRegistry

VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
OF_THIS_PROCESS = CollectorRegistry()
"""Numbers that cannot be shared through files, such as those of the shard router."""


def make_shared_folder(home: Path) -> str:
    """An empty folder for the counters of a new start: those of earlier processes are history."""
    folder = home / "run" / "metrics"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return str(folder)


def shared_folder() -> str | None:
    """Where processes share their counters; None when there is one process only."""
    return os.environ.get(VARIABLE)
