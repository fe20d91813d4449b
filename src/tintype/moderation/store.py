"""The room's SQL, and how its rows are read."""

from pathlib import Path

import asyncpg
import msgspec

from shardwright.routing import Queries
from tintype.moderation.models import Case, LogEntry

QUERIES = Queries.load(Path(__file__).with_name("queries.sql"))


def read_case(row: asyncpg.Record) -> Case:
    """A case from its row."""
    return Case(**{**row, "evidence": msgspec.json.decode(row["evidence"])})


def read_log_entry(row: asyncpg.Record) -> LogEntry:
    """An entry of the moderation log from its row."""
    decode = msgspec.json.decode
    return LogEntry(**{**row, "before": decode(row["before"]), "after": decode(row["after"])})
