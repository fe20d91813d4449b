"""Paths of the migrations and of schema.sql."""

from pathlib import Path

MIGRATIONS = Path(__file__).parent / "migrations"
SCHEMA_FILE = Path(__file__).parent / "schema.sql"
