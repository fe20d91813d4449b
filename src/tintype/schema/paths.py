"""Paths of the migrations, of schema.sql and of the queries that run on shards."""

from pathlib import Path

MIGRATIONS = Path(__file__).parent / "migrations"
SCHEMA_FILE = Path(__file__).parent / "schema.sql"
_ROOMS = Path(__file__).parent.parent
QUERY_FILES = tuple(sorted(_ROOMS.glob("*/**/queries.sql")))
"""Every room's queries: a test compares them with those that the application loads."""
