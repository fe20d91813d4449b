"""What earlier statements have created: tells a new table from one that may have rows.

The linter reads files, not servers, so that it gives the same result on a laptop and in CI. From earlier statements it
only needs the tables created by the same file, the types of columns, primary keys, and which NOT NULL constraints are
validated.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from shardwright.migrations.files import Migration
from shardwright.migrations.sql_parser import Node, Statement

_LIKE_INDEXES = 64  # PostgreSQL's CREATE_TABLE_LIKE_INDEXES


@dataclass(frozen=True)
class NotNullConstraint:
    """A constraint by which a column is not null."""

    column: str
    is_valid: bool


@dataclass
class History:
    """Updated statement by statement; `start` begins the next file."""

    types: dict[tuple[str, str], Node] = field(default_factory=dict[tuple[str, str], Node])
    checks: dict[tuple[str, str], NotNullConstraint] = field(
        default_factory=dict[tuple[str, str], NotNullConstraint]
    )
    new_tables: dict[str, int] = field(default_factory=dict[str, int])
    keyed_tables: set[str] = field(default_factory=set[str])
    tables: set[str] = field(default_factory=set[str])
    keys: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    """The primary keys of all tables so far, where they are known."""
    copies: dict[str, str] = field(default_factory=dict[str, str])
    """Tables made with LIKE, and what they are copies of."""
    shared_tables: frozenset[str] = frozenset()
    """Tables that exist once per server, when shards are judged."""
    new_constraints: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    migration: Migration | None = None

    def start(self, migration: Migration) -> None:
        """Begin a file: from here on, "new" means created by this file."""
        self.migration = migration
        self.new_tables.clear()
        self.keyed_tables.clear()
        self.new_constraints.clear()

    def is_new(self, table: str) -> bool:
        """Whether this file created the table, so that nobody can be using it."""
        return table in self.new_tables

    def is_known_not_null(self, table: str, column: str) -> bool:
        """Whether a validated constraint already ensures that the column is not null."""
        constraints = (check for (owner, _), check in self.checks.items() if owner == table)
        return any(check.column == column and check.is_valid for check in constraints)

    def add(self, statement: Statement) -> None:
        """Record what a statement creates."""
        node = statement.node
        if node.kind == "CreateStmt":
            self._add_table(node, statement.line)
        elif node.kind in {"CreateTableAsStmt", "SelectStmt"} and (into := node.child("into")).fields:
            self._record_table(into.child("rel"), statement.line)
        elif node.kind == "AlterTableStmt":
            for command in node.children("cmds"):
                self._alter(node.child("relation").text("relname"), command)

    def _record_table(self, relation: Node, line: int) -> None:
        self.tables.add(relation.text("relname"))
        if relation.text("relpersistence") != "t":
            self.new_tables[relation.text("relname")] = line

    def _add_table(self, node: Node, line: int) -> None:
        table = node.child("relation").text("relname")
        self._record_table(node.child("relation"), line)
        if node.has("partbound"):
            self.keyed_tables.add(table)  # a partition has its parent's key
        for element in node.children("tableElts"):
            if element.kind == "ColumnDef":
                self._add_column(table, element)
            elif element.kind == "Constraint":
                self._add_constraint(table, element)
            elif element.kind == "TableLikeClause":
                self._copy(table, element)

    def _copy(self, table: str, clause: Node) -> None:
        """Record what a table has from LIKE: the columns, and the key only if its index is copied too."""
        source = clause.child("relation").text("relname")
        self.copies[table] = source
        for (owner, column), type_name in list(self.types.items()):
            if owner == source:
                self.types[table, column] = type_name
        if not copies_indexes(clause):
            return
        if source in self.keys:
            self.keys[table] = self.keys[source]
            self.keyed_tables.add(table)
        elif source not in self.tables:
            self.keyed_tables.add(table)  # made elsewhere: nothing is known of its key

    def _add_column(self, table: str, column: Node) -> None:
        self.types[table, column.text("colname")] = column.child("typeName")
        for constraint in column.children("constraints"):
            self._add_constraint(table, constraint, column.text("colname"))

    def _add_constraint(self, table: str, constraint: Node, own: str = "") -> None:
        kind = constraint.text("contype")
        if kind == "CONSTR_PRIMARY":
            self.keyed_tables.add(table)
            if key := [own] if own else constraint.strings("keys"):
                self.keys[table] = key
        key = (table, constraint.text("conname"))
        self.new_constraints.add(key)
        if column := not_null_column(constraint):
            self.checks[key] = NotNullConstraint(column, is_valid=not constraint.has("skip_validation"))

    def _alter(self, table: str, command: Node) -> None:
        kind, definition = command.text("subtype"), command.child("def")
        if kind == "AT_AddConstraint":
            self._add_constraint(table, definition)
        elif kind == "AT_AddColumn":
            self._add_column(table, definition)
        elif kind == "AT_AlterColumnType":
            self.types[table, command.text("name")] = definition.child("typeName")
        elif kind == "AT_ValidateConstraint" and (table, command.text("name")) in self.checks:
            check = self.checks[table, command.text("name")]
            self.checks[table, command.text("name")] = NotNullConstraint(check.column, is_valid=True)


def copies_indexes(clause: Node) -> bool:
    """Whether LIKE says INCLUDING INDEXES or INCLUDING ALL."""
    return bool(int(clause.text("options") or 0) & _LIKE_INDEXES)


def not_null_column(constraint: Node) -> str:
    """The column that a constraint declares not null; empty for other constraints."""
    if constraint.text("contype") == "CONSTR_NOTNULL":
        return "".join(constraint.strings("keys"))
    test = constraint.child("raw_expr")
    if test.kind == "NullTest" and test.text("nulltesttype") == "IS_NOT_NULL":
        return "".join(test.child("arg").strings("fields"))
    return ""
