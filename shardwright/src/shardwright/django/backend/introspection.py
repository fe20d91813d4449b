"""Which tables a shard has."""

from typing import Any

from django.db.backends.postgresql import introspection as postgresql


class DatabaseIntrospection(postgresql.DatabaseIntrospection):
    """Lists the tables of the shard's own schema: others of the search_path are not the shard's."""

    def get_table_list(self, cursor: Any) -> list[Any]:
        """The tables and views of the shard."""
        cursor.execute(
            "SELECT relname FROM pg_catalog.pg_class WHERE relnamespace = %s::pg_catalog.regnamespace",
            [self.connection.alias],
        )
        own = {name for (name,) in cursor.fetchall()}
        return [table for table in super().get_table_list(cursor) if table.name in own]
