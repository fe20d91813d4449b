"""The tables: `migrations/` in the order they were applied, `schema.sql` their result; a test keeps them equal."""

from tintype.schema.apply import Applied, apply_schema
from tintype.schema.paths import MIGRATIONS, SCHEMA_FILE

__all__ = ["MIGRATIONS", "SCHEMA_FILE", "Applied", "apply_schema"]
