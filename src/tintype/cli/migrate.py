"""`tintype migrate`: registers servers, creates shards and applies migrations."""

import asyncio
import sys

from rich.console import Console

from tintype.base.log import get_log, set_up_log
from tintype.cli.running_stack import running_settings
from tintype.schema import apply_schema

log = get_log("migrate")


def migrate() -> None:
    """Register the PostgreSQL servers, create missing shards and apply new migrations to all of them.

    Safe to repeat and to interrupt: it continues where it stopped. `tintype up` runs it before anything else.
    """
    settings = running_settings()
    set_up_log(settings, process="migrate")
    report = asyncio.run(
        apply_schema(settings, console=Console(stderr=True) if sys.stderr.isatty() else None)
    )
    log.info("schema.migrated", servers=report.servers, shards=report.shards, applied=report.applied)
