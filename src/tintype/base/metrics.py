"""Metrics of several processes in one answer.

prometheus_client shares counters between processes through files; it reads the folder's name from the environment
when it is first imported, so the folder is chosen by whoever starts the processes.
"""

import os

VARIABLE = "PROMETHEUS_MULTIPROC_DIR"


def shared_folder() -> str | None:
    """Where processes share their counters; None when there is one process only."""
    return os.environ.get(VARIABLE)
