"""The tables: `migrations/` in the order they were applied, `schema.sql` their result; a test keeps them equal."""

from tintype.schema.apply import Applied, apply_schema
from tintype.schema.paths import MIGRATIONS, QUERY_FILES, SCHEMA_FILE
from tintype.schema.roles import DatabaseRoles, ensure_database_roles

__all__ = [
    "MIGRATIONS",
    "QUERY_FILES",
    "SCHEMA_FILE",
    "Applied",
    "DatabaseRoles",
    "apply_schema",
    "ensure_database_roles",
]
