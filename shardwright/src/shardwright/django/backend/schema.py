"""DDL on a shard: keys from the shard's `next_id()`, and guards on every new table."""

from types import TracebackType

from django.db.backends.postgresql import schema as postgresql

from shardwright.topology import guard_tables_sql


class DatabaseSchemaEditor(postgresql.DatabaseSchemaEditor):
    """Django's schema editor; what it creates is guarded in the same transaction."""

    sql_add_identity = "ALTER TABLE %(table)s ALTER COLUMN %(column)s SET DEFAULT next_id()"
    sql_drop_indentity = "ALTER TABLE %(table)s ALTER COLUMN %(column)s DROP DEFAULT"  # Django's spelling

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if exc_type is None:
            # The last of the deferred statements, before the commit: a server that does not own the shard refuses
            # writes to the new tables from their first moment on.
            self.deferred_sql.append(guard_tables_sql(self.connection.shard_number))
        super().__exit__(exc_type, exc_value, traceback)
