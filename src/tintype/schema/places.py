"""Where the tables are described."""

from pathlib import Path

MIGRATIONS = Path(__file__).parent / "migrations"
SCHEMA_FILE = Path(__file__).parent / "schema.sql"
