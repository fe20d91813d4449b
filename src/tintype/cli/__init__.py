"""The `tintype` command: one file per command, help that teaches, `--json` where a machine may read.

Exit codes: 0 done, 1 it did not work or something is wrong, 2 the command line was misunderstood.
"""

from tintype.cli.entry import main

__all__ = ["main"]
