"""The `tintype` command line: one file per command, `--json` output for scripts.

Exit codes: 0 success, 1 failure or problems found, 2 wrong arguments.
"""

from tintype.cli.entry import main

__all__ = ["main"]
