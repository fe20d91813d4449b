"""The tables: `migrations/` is how we got here, `schema.sql` is today; a test holds them equal."""

from tintype.schema.applying import Applied, apply_schema
from tintype.schema.places import MIGRATIONS, SCHEMA_FILE

__all__ = ["MIGRATIONS", "SCHEMA_FILE", "Applied", "apply_schema"]
