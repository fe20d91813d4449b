"""Statements that a widening is made of, by table and by object."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from shardwright.widen.models import TRIGGER, Column, own_name, quote

if TYPE_CHECKING:
    from asyncpg import Record


def by_table(columns: Iterable[Column]) -> list[tuple[str, list[Column]]]:
    """The columns of each table."""
    found: dict[str, list[Column]] = {}
    for column in columns:
        found.setdefault(column.table, []).append(column)
    return sorted(found.items())


def trigger_function(columns: Sequence[Column]) -> str:
    """The function that fills these new columns of one table; it lies beside the table."""
    return f"{quote(columns[0].name.schema)}.{quote(own_name('fill', columns[0].table))}"


def add_columns(columns: Sequence[Column]) -> Iterator[str]:
    """Add the new columns, and the triggers that fill them from then on; also for replicated rows (ALWAYS)."""
    for table, own in by_table(columns):
        added = ", ".join(f"ADD COLUMN {quote(column.wide)} bigint" for column in own)
        yield f"ALTER TABLE {table} {added}"
        fills = " ".join(f"NEW.{quote(column.wide)} := NEW.{quote(column.name.column)};" for column in own)
        yield (
            f"CREATE FUNCTION {trigger_function(own)}() RETURNS trigger LANGUAGE plpgsql "
            f"SET search_path = pg_catalog AS $widen$BEGIN {fills} RETURN NEW; END$widen$"
        )
        yield (
            f"CREATE TRIGGER {TRIGGER} BEFORE INSERT OR UPDATE ON {table} "
            f"FOR EACH ROW EXECUTE FUNCTION {trigger_function(own)}()"
        )
        yield f"ALTER TABLE {table} ENABLE ALWAYS TRIGGER {TRIGGER}"


def remove_columns(columns: Sequence[Column]) -> Iterator[str]:
    """Remove the new columns with everything that was built on them."""
    for table, own in by_table(columns):
        yield f"DROP TRIGGER IF EXISTS {TRIGGER} ON {table}"
        yield f"DROP FUNCTION IF EXISTS {trigger_function(own)}()"
        dropped = ", ".join(f"DROP COLUMN IF EXISTS {quote(column.wide)} CASCADE" for column in own)
        yield f"ALTER TABLE {table} {dropped}"


def drop_old_columns(columns: Sequence[Column]) -> Iterator[str]:
    """Drop the old columns, which nothing uses any more."""
    for table, own in by_table(columns):
        dropped = ", ".join(f"DROP COLUMN IF EXISTS {quote(column.narrow)}" for column in own)
        yield f"ALTER TABLE {table} {dropped}"


def comment(what: str, text: str | None) -> Iterator[str]:
    """Comment on something, if there was a comment."""
    if text is not None:
        yield "COMMENT ON {} IS '{}'".format(what, text.replace("'", "''"))


def grant(
    grants: "Sequence[Record]", *, name: str, of_column: str | None = None, final: str | None = None
) -> Iterator[str]:
    """Grant what was granted on this relation, or on one column of it under its final name."""
    for each in grants:
        if each["name"] != name or (of_column is not None and each["of_column"] != of_column):
            continue
        column = f" ({quote(final or each['of_column'])})" if each["of_column"] else ""
        option = " WITH GRANT OPTION" if each["is_grantable"] else ""
        yield f"GRANT {each['privilege']}{column} ON {each['name']} TO {each['grantee']}{option}"


def revoke_defaults(view: str) -> str:
    """Take away what ALTER DEFAULT PRIVILEGES gave the new view: it gets the privileges that it had."""
    literal = view.replace("'", "''")
    return f"""DO $$ DECLARE other record; BEGIN
      FOR other IN SELECT DISTINCT x.grantee FROM pg_catalog.pg_class c
        CROSS JOIN LATERAL pg_catalog.aclexplode(c.relacl) x
        WHERE c.oid = '{literal}'::pg_catalog.regclass AND x.grantee <> c.relowner LOOP
        EXECUTE pg_catalog.format('REVOKE ALL ON {literal} FROM %s', CASE other.grantee WHEN 0 THEN 'PUBLIC'
          ELSE pg_catalog.quote_ident(pg_catalog.pg_get_userbyid(other.grantee)) END);
      END LOOP; END $$"""
