"""The lint rules, each with its remedy, and the findings."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

RULES = {
    "syntax": "PostgreSQL's own grammar refuses the file.",
    "narrow-id": (
        "Ids are 64 bits wide; give every id column, every column that refers to one, and every single-column key, the "
        "type bigint."
    ),
    "local-sequence": (
        "A sequence repeats its numbers in every shard: write `id bigint PRIMARY KEY DEFAULT next_id()`."
    ),
    "missing-primary-key": (
        "A table without a primary key cannot be moved (logical replication needs one) nor repaired "
        "row by row. LIKE copies the key only with INCLUDING INDEXES (or ALL)."
    ),
    "foreign-key-outside-the-shard": (
        "A foreign key ties a shard to tables that stay behind when it moves to another server: keep what it refers to "
        "in the shard, or store the id alone and let the application check it."
    ),
    "unlogged-table": "Unlogged tables are emptied by a crash and are not carried when a shard moves.",
    "index-not-concurrent": (
        "Writes wait while the index is built or dropped: put it in a file of its own that says `-- "
        "no-transaction` and CONCURRENTLY. On a table made in the same file it is fine as it is."
    ),
    "concurrent-in-transaction": (
        "CONCURRENTLY cannot run inside a transaction: start the file with `-- no-transaction`."
    ),
    "mixed-no-transaction": (
        "Nothing undoes a `-- no-transaction` file half-way: keep in it only what cannot run in a "
        "transaction, and put the rest in a file of its own."
    ),
    "unrecoverable-index": (
        "After a crash an invalid index is found again by its name: name it, and leave out IF NOT "
        "EXISTS, which would keep the invalid one."
    ),
    "volatile-default": (
        "A default that differs from row to row rewrites the table under an exclusive lock: add the "
        "column without it, set the default in a second statement, backfill in batches."
    ),
    "type-rewrite": (
        "Changing a type rewrites the table under an exclusive lock: add a column, fill it in "
        "batches, switch over. Widening a varchar, or varchar to text, is fine."
    ),
    "not-null-unchecked": (
        "SET NOT NULL scans the table under an exclusive lock, and an added NOT NULL column without "
        "default fails on rows: add `CONSTRAINT … NOT NULL column NOT VALID` (or such a CHECK), "
        "validate it in a later migration."
    ),
    "constraint-not-valid": (
        "A new constraint scans the table while writes wait: add it NOT VALID, validate it in a later "
        "migration."
    ),
    "validate-with-add": (
        "The lock that adding took is held while validating scans: put VALIDATE CONSTRAINT in a later "
        "migration."
    ),
    "unique-without-index": (
        "It builds its index while writes wait: build a unique index CONCURRENTLY first, then add the "
        "constraint USING INDEX."
    ),
    "blocking-statement": "It locks or rewrites a whole table while others wait.",
    "whole-table-write": (
        "One statement over all rows holds its locks until the end and bloats the table: backfill in batches."
    ),
    "breaks-previous-release": (
        "The previous release is still running while this is applied: stop using it in one release, "
        "remove it in the next, and waive this with the release that stopped."
    ),
    "cascade": "CASCADE drops objects that are not listed: name each one.",
    "qualified-name": (
        "A migration runs in every shard: leave schema names out, search_path finds the shard's own tables."
    ),
    "outside-the-shard": "It is made once per server or database, not once per shard: put it in server/.",
    "session-setting": (
        "A setting outlives its migration, and search_path is what makes it land in the right shard: "
        "use SET LOCAL, and leave search_path alone."
    ),
    "ddl-in-do": (
        "Inside DO it may do something else in every shard, and other rules judge it only as far as it can be seen: "
        "write plain statements, with IF EXISTS or IF NOT EXISTS where shards may differ."
    ),
    "transaction-control": "The migrator opens and commits the transaction, with the version inside it.",
    "guard-off": "Disabling triggers disables the guard that refuses writes to a shard that has moved away.",
    "unused-waiver": (
        "Nothing in the file breaks the rule that is waived (or no such rule exists): remove the waiver."
    ),
}

# These cannot be waived.
UNWAIVABLE = frozenset({"syntax", "concurrent-in-transaction", "transaction-control", "unused-waiver"})


@dataclass(frozen=True, order=True)
class Finding:
    """A lint finding: file, line, rule and message."""

    path: Path
    line: int
    rule: str
    message: str

    @property
    def advice(self) -> str:
        """The remedy."""
        return RULES[self.rule]

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.rule}: {self.message}. {self.advice}"
