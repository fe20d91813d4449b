"""Metrics of several processes in one scrape.

prometheus_client shares counters between processes through files. It reads the folder's name from the environment when
it is first imported, so whoever starts the processes chooses the folder.
"""

import os
import shutil
from pathlib import Path

from prometheus_client import CollectorRegistry

VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
OF_THIS_PROCESS = CollectorRegistry()
"""Metrics that cannot be shared through files, such as those of the shard router."""


def make_shared_folder(home: Path) -> str:
    """An empty folder for the counters of a new start, without those of earlier processes."""
    folder = home / "run" / "metrics"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return str(folder)


def shared_folder() -> str | None:
    """The folder through which processes share counters; None when there is only one process."""
    return os.environ.get(VARIABLE)
