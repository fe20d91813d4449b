"""The tables: `migrations/` in the order they were applied, `schema.sql` their result; a test keeps them equal."""

from tintype.schema.apply import Applied, apply_schema, without_password
from tintype.schema.moves import end_moves
from tintype.schema.paths import MIGRATIONS, QUERY_FILES, SCHEMA_FILE
from tintype.schema.replicas import WAIT_S as REPLICA_WAIT_S
from tintype.schema.replicas import enter_replicas
from tintype.schema.roles import DatabaseRoles, ensure_database_roles

__all__ = [
    "MIGRATIONS",
    "QUERY_FILES",
    "REPLICA_WAIT_S",
    "SCHEMA_FILE",
    "Applied",
    "DatabaseRoles",
    "apply_schema",
    "end_moves",
    "ensure_database_roles",
    "enter_replicas",
    "without_password",
]
