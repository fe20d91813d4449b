"""The statements of a widening, made from what is defined on the columns.

`new` stands for the columns as they are named before the exchange, `final` for their names afterwards: what is built
beforehand is built on `new`, what is created in the exchange is created on `final`.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from shardwright.widen.definitions import Definitions
from shardwright.widen.models import TRIGGER, Column, own_name, quote
from shardwright.widen.statements import by_table, comment, grant, revoke_defaults, trigger_function

if TYPE_CHECKING:
    from asyncpg import Record

NOT_NULL_CONSTRAINTS = 18
"""Since this version of PostgreSQL NOT NULL is a constraint with a name."""
_ENABLED = {"D": "DISABLE", "A": "ENABLE ALWAYS", "R": "ENABLE REPLICA"}


class IndexBuild(NamedTuple):
    """An index of the new columns."""

    schema: str
    name: str
    table: str
    sql: str


class ConstraintBuild(NamedTuple):
    """A constraint of the new columns; `tables` are locked for a moment when it is added."""

    name: str
    table: str
    tables: tuple[str, ...]
    add_sql: str
    is_validated: bool = True

    @property
    def validate_sql(self) -> str:
        """Reads the whole table, beside its writers."""
        return f"ALTER TABLE {self.table} VALIDATE CONSTRAINT {quote(self.name)}"


class Plan:
    """What to build before the exchange, and the exchange itself."""

    def __init__(self, definitions: Definitions, major: int) -> None:
        self._found = definitions
        self._major = major
        self._columns = [column for column, _ in definitions.columns]

    @property
    def tables(self) -> list[str]:
        """Tables that are locked for the exchange: those of the columns, and those at the other end of foreign keys."""
        others = [
            table
            for each in self._found.constraints
            for table in (each["table"], each["other_table"])
            if table is not None
        ]
        return sorted({*(column.table for column in self._columns), *others})

    @property
    def details(self) -> "list[tuple[Column, Record]]":
        """The columns, and what they have besides their type."""
        return self._found.columns

    @property
    def views(self) -> "list[Record]":
        """Views that are made anew in the exchange."""
        return self._found.views

    @property
    def requirements(self) -> tuple[object, ...]:
        """What has to be there before the exchange, to be compared with that of a plan that was read earlier."""
        views = [tuple(each) for each in self.views]
        return self.tables, self.indexes(), self.constraints(), self.statistics(), views

    def indexes(self) -> list[IndexBuild]:
        """Indexes to build concurrently."""
        return [self._index(each) for each in self._found.indexes]

    def constraints(self) -> list[ConstraintBuild]:
        """Constraints to add and to validate, those of our own first: they compare every row's two columns."""
        found = [_same_values(table, columns) for table, columns in by_table(self._columns)]
        found += [_not_null(column) for column in self._columns if column.is_not_null]
        for each in self._found.constraints:
            name = own_name(each["table"], each["name"])
            tables = tuple(dict.fromkeys(table for table in (each["table"], each["other_table"]) if table))
            definition = self._new(each["definition"]).removesuffix(" NOT VALID")
            later = "" if definition.endswith(" NOT ENFORCED") else " NOT VALID"
            sql = f"ALTER TABLE {each['table']} ADD CONSTRAINT {quote(name)} {definition}{later}"
            found.append(ConstraintBuild(name, each["table"], tables, sql, is_validated=each["is_valid"]))
        return found

    def statistics(self) -> list[tuple[str, str, str]]:
        """Schema, name and statement of extended statistics to create."""
        found: list[tuple[str, str, str]] = []
        for each in self._found.statistics:
            name = own_name(each["schema"], each["name"])
            body = each["definition"].removeprefix(f"CREATE STATISTICS {each['qualified']}")
            sql = f"CREATE STATISTICS {quote(each['schema'])}.{quote(name)}{self._new(body)}"
            found.append((each["schema"], name, sql))
        return found

    def exchange(self) -> Iterator[str]:
        """The statements of the exchange but for identity columns, in order; only the catalog is changed."""
        for view in reversed(self._found.views):
            yield f"DROP VIEW {view['name']}"
        yield from self._drop_old()
        for column in self._columns:
            yield f"ALTER TABLE {column.table} RENAME {quote(column.name.column)} TO {quote(column.narrow)}"
            yield f"ALTER TABLE {column.table} RENAME {quote(column.wide)} TO {quote(column.name.column)}"
        for column, detail in self._found.columns:
            yield from self._take_over(column, detail)
        yield from self._adopt_built()
        yield from self._recreate()

    def _drop_old(self) -> Iterator[str]:
        for each in self._found.triggers:
            yield f"DROP TRIGGER {quote(each['name'])} ON {each['table']}"
        for each in sorted(self._found.constraints, key=lambda each: each["kind"] != "f"):
            yield f"ALTER TABLE {each['table']} DROP CONSTRAINT {quote(each['name'])}"
        for table, own in by_table(self._columns):
            yield f"ALTER TABLE {table} DROP CONSTRAINT {quote(own_name('same', table))}"
            yield f"DROP TRIGGER {TRIGGER} ON {table}"
            yield f"DROP FUNCTION {trigger_function(own)}()"
        for each in self._found.indexes:
            if each["constraint"] is not None:
                yield f"ALTER TABLE {each['table']} DROP CONSTRAINT {quote(each['constraint'])}"
            else:
                yield f"DROP INDEX {quote(each['schema'])}.{quote(each['name'])}"
        for each in self._found.statistics:
            yield f"DROP STATISTICS {quote(each['schema'])}.{quote(each['name'])}"

    def _take_over(self, column: Column, detail: "Record") -> Iterator[str]:
        alter = f"ALTER TABLE {column.table} ALTER COLUMN"
        narrow, final = quote(column.narrow), quote(column.name.column)
        if not detail["identity"]:
            yield f"{alter} {narrow} DROP DEFAULT"
        if column.is_not_null and not detail["identity"]:
            yield f"{alter} {narrow} DROP NOT NULL"
        if column.is_not_null:
            yield from self._set_not_null(column, detail)
        for sequence in detail["narrow_sequences"]:
            yield f"ALTER SEQUENCE {sequence} AS bigint"
        for sequence in detail["owned_sequences"]:
            yield f"ALTER SEQUENCE {sequence} OWNED BY {column.table}.{final}"
        if detail["default"] is not None and not detail["identity"]:
            yield f"{alter} {final} SET DEFAULT {detail['default']}"
        if detail["statistics"] is not None:
            yield f"{alter} {final} SET STATISTICS {detail['statistics']}"
        if detail["options"]:
            yield f"{alter} {final} SET ({detail['options']})"
        yield from comment(f"COLUMN {column.table}.{final}", detail["comment"])
        yield from grant(
            self._found.grants, name=column.table, of_column=column.placeholder, final=column.name.column
        )

    def _set_not_null(self, column: Column, detail: "Record") -> Iterator[str]:
        final = quote(column.name.column)
        if self._major >= NOT_NULL_CONSTRAINTS and detail["not_null_constraint"] is not None:
            # The name is free: that of the old column went with its NOT NULL, or is taken from it here.
            if detail["identity"]:
                freed = own_name("old not null", str(column.name))
                name = quote(detail["not_null_constraint"])
                yield f"ALTER TABLE {column.table} RENAME CONSTRAINT {name} TO {quote(freed)}"
            yield f"ALTER TABLE {column.table} ADD CONSTRAINT {quote(detail['not_null_constraint'])} NOT NULL {final}"
        else:
            yield f"ALTER TABLE {column.table} ALTER COLUMN {final} SET NOT NULL"
        yield f"ALTER TABLE {column.table} DROP CONSTRAINT {quote(column.not_null_check)}"

    def _adopt_built(self) -> Iterator[str]:
        for each in self._found.indexes:
            built = self._index(each)
            index = f"{quote(each['schema'])}.{quote(each['name'])}"
            if each["constraint"] is None:
                yield f"ALTER INDEX {quote(built.schema)}.{quote(built.name)} RENAME TO {quote(each['name'])}"
            else:
                yield _add_key(each, built)
                yield from comment(
                    f"CONSTRAINT {quote(each['constraint'])} ON {each['table']}", each["constraint_comment"]
                )
            yield from comment(f"INDEX {index}", each["comment"])
            if each["is_replica_identity"]:
                yield f"ALTER TABLE {each['table']} REPLICA IDENTITY USING INDEX {quote(each['name'])}"
            if each["is_clustered"]:
                yield f"ALTER TABLE {each['table']} CLUSTER ON {quote(each['name'])}"
        for each in self._found.constraints:
            built = quote(own_name(each["table"], each["name"]))
            yield f"ALTER TABLE {each['table']} RENAME CONSTRAINT {built} TO {quote(each['name'])}"
            yield from comment(f"CONSTRAINT {quote(each['name'])} ON {each['table']}", each["comment"])
        for each, (schema, name, _) in zip(self._found.statistics, self.statistics(), strict=True):
            yield f"ALTER STATISTICS {quote(schema)}.{quote(name)} RENAME TO {quote(each['name'])}"
            if each["target"] >= 0:
                yield f"ALTER STATISTICS {quote(schema)}.{quote(each['name'])} SET STATISTICS {each['target']}"

    def _recreate(self) -> Iterator[str]:
        for each in self._found.policies:
            using = f" USING ({self._final(each['using'])})" if each["using"] is not None else ""
            check = (
                f" WITH CHECK ({self._final(each['with_check'])})" if each["with_check"] is not None else ""
            )
            yield f"ALTER POLICY {quote(each['name'])} ON {each['table']}{using}{check}"
        for each in self._found.triggers:
            yield self._final(each["definition"])
            if each["enabled"] in _ENABLED:
                yield f"ALTER TABLE {each['table']} {_ENABLED[each['enabled']]} TRIGGER {quote(each['name'])}"
            yield from comment(f"TRIGGER {quote(each['name'])} ON {each['table']}", each["comment"])
        for view in self._found.views:
            options = f" WITH ({view['options']})" if view["options"] else ""
            yield f"CREATE VIEW {view['name']}{options} AS {self._final(view['definition'])}"
            yield f"ALTER VIEW {view['name']} OWNER TO {view['owner']}"
            yield revoke_defaults(view["name"])
            yield from grant(self._found.grants, name=view["name"])
            yield from comment(f"VIEW {view['name']}", view["comment"])

    def _index(self, each: "Record") -> IndexBuild:
        name = own_name(each["schema"], each["name"])
        unique = "UNIQUE " if each["is_unique"] else ""
        body = self._new(each["definition"].removeprefix(f"CREATE {unique}INDEX {each['quoted']} "))
        if each["tablespace"] is not None:
            head, where, condition = body.partition(" WHERE ") if each["is_partial"] else (body, "", "")
            body = f"{head} TABLESPACE {quote(each['tablespace'])}{where}{condition}"
        sql = f"CREATE {unique}INDEX CONCURRENTLY {quote(name)} {body}"
        return IndexBuild(each["schema"], name, each["table"], sql)

    def _new(self, text: str) -> str:
        return self._replace(text, {column: column.wide for column in self._columns})

    def _final(self, text: str) -> str:
        return self._replace(text, {column: column.name.column for column in self._columns})

    @staticmethod
    def _replace(text: str, names: dict[Column, str]) -> str:
        for column, name in names.items():
            text = text.replace(column.placeholder, quote(name))
        return text


def _same_values(table: str, columns: Sequence[Column]) -> ConstraintBuild:
    pairs = " AND ".join(
        f"{quote(each.wide)} IS NOT DISTINCT FROM {quote(each.name.column)}" for each in columns
    )
    name = own_name("same", table)
    return ConstraintBuild(
        name, table, (table,), f"ALTER TABLE {table} ADD CONSTRAINT {quote(name)} CHECK ({pairs}) NOT VALID"
    )


def _not_null(column: Column) -> ConstraintBuild:
    check = f"CHECK ({quote(column.wide)} IS NOT NULL) NOT VALID"
    sql = f"ALTER TABLE {column.table} ADD CONSTRAINT {quote(column.not_null_check)} {check}"
    return ConstraintBuild(column.not_null_check, column.table, (column.table,), sql)


def _add_key(each: "Record", built: IndexBuild) -> str:
    kind = "PRIMARY KEY" if each["kind"] == "p" else "UNIQUE"
    deferrable = " DEFERRABLE" if each["is_deferrable"] else ""
    deferred = " INITIALLY DEFERRED" if each["is_deferred"] else ""
    constraint = f"ADD CONSTRAINT {quote(each['constraint'])} {kind} USING INDEX {quote(built.name)}"
    return f"ALTER TABLE {each['table']} {constraint}{deferrable}{deferred}"
