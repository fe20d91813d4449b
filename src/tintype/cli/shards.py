"""`tintype shards …`: shardwright's own command line, told where our directory is."""

import os

from tintype.base.errors import SettingsInvalid
from tintype.cli.running import running_settings

DIRECTORY_VARIABLE = "SHARDWRIGHT_DIRECTORY"


def lend_directory() -> None:
    """Shards: where they live, how they fare, SQL on one or all of them. See `tintype shards status`."""
    if DIRECTORY_VARIABLE in os.environ:
        return
    try:
        settings = running_settings()
    except SettingsInvalid:
        return  # commands such as `ids decode` and `lint` need no directory; the others say what is missing
    os.environ[DIRECTORY_VARIABLE] = settings.directory or settings.postgres[0]
