"""`./tintype check`, "boundaries": front doors and table ownership, which import-linter cannot express.

Doors: code outside a room imports the room's package, never a module inside it. Tables: the SQL of a room names only
tables that the room owns; `src/tintype/schema/ownership.toml` says who owns what and lists every exception.
"""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
PACKAGE = CHECKOUT / "src" / "tintype"
OWNERSHIP = PACKAGE / "schema" / "ownership.toml"
TOOLKITS = {"base", "redis"}
"""Packages without a facade, whose modules are imported one by one."""

_STATEMENT = re.compile(r"\s*(?:WITH|SELECT|INSERT|UPDATE|DELETE|TRUNCATE)\s")
_COMMENT = re.compile(r"--[^\n]*")
_LITERAL = re.compile(r"'(?:[^']|'')*'")
_NAME = r"(?:common\.)?(\w+)"
_WRITE = re.compile(
    rf"\b(?:INSERT\s+INTO|UPDATE|DELETE\s+FROM|TRUNCATE)\s+(?:ONLY\s+)?{_NAME}", re.IGNORECASE
)
_READ = re.compile(rf"\b(?:FROM|JOIN|USING)\s+(?:ONLY\s+|LATERAL\s+)?{_NAME}", re.IGNORECASE)
_AFTER_COMMA = re.compile(rf",\s*(?:ONLY\s+)?{_NAME}\s+(?:AS\s+)?\w+\b", re.IGNORECASE)


@dataclass(frozen=True, order=True)
class TableUse:
    """A room's SQL names a table."""

    room: str
    table: str
    is_write: bool

    def __str__(self) -> str:
        return f"{self.room} {'writes' if self.is_write else 'reads'} {self.table}"


@dataclass(frozen=True)
class Ownership:
    """Which room owns which table, and which uses of another room's table are allowed."""

    owners: dict[str, str]
    allowed: frozenset[TableUse]

    @classmethod
    def load(cls, path: Path = OWNERSHIP) -> "Ownership":
        """Read the map; every exception must give its reason."""
        content = tomllib.loads(path.read_text())
        owners = {table: room for room, tables in content["owners"].items() for table in tables}
        allowed: set[TableUse] = set()
        for is_write, section in ((False, "shared_reads"), (True, "shared_writes")):
            for each in content.get(section, []):
                if not each["why"].strip():
                    raise ValueError(f"{path.name}: {each['room']} needs a reason in {section}")
                allowed |= {TableUse(each["room"], table, is_write) for table in each["tables"]}
        return cls(owners, frozenset(allowed))


def find_table_uses(ownership: Ownership, package: Path = PACKAGE) -> set[TableUse]:
    """Every table that the SQL of each room names, in its SQL files and in string literals of its code."""
    uses: set[TableUse] = set()
    for file in sorted((*package.glob("*/**/*.sql"), *package.glob("*/**/*.py"))):
        room = file.relative_to(package).parts[0]
        if room != "schema":
            for sql in [file.read_text()] if file.suffix == ".sql" else _sql_literals(file):
                uses |= set(tables_in(sql, room, ownership))
    return uses


def _sql_literals(file: Path) -> Iterator[str]:
    """String literals that begin with a statement; f-strings are joined without their expressions."""
    for node in ast.walk(ast.parse(file.read_text())):
        parts = node.values if isinstance(node, ast.JoinedStr) else [node]
        text = "".join(str(each.value) for each in parts if isinstance(each, ast.Constant))
        if _STATEMENT.match(text):
            yield text


def tables_in(sql: str, room: str, ownership: Ownership) -> Iterator[TableUse]:
    """The tables that some SQL reads or writes; aliases, columns and common table expressions are not tables."""
    text = _LITERAL.sub("''", _COMMENT.sub("", sql))
    for pattern, is_write in ((_WRITE, True), (_READ, False), (_AFTER_COMMA, False)):
        for match in pattern.finditer(text):
            if match[1] in ownership.owners:
                yield TableUse(room, match[1], is_write)


def find_foreign_uses(ownership: Ownership, package: Path = PACKAGE) -> set[TableUse]:
    """Uses of another room's tables, allowed or not. A table that is written need not be listed as read, too."""
    uses = find_table_uses(ownership, package)
    return {
        use
        for use in uses
        if ownership.owners[use.table] != use.room
        and (use.is_write or TableUse(use.room, use.table, is_write=True) not in uses)
    }


def find_door_breaches(package: Path = PACKAGE, checkout: Path = CHECKOUT) -> list[str]:
    """Imports of a module inside a room by code outside it, as `file:line module`."""
    rooms = {each.parent.name for each in package.glob("*/__init__.py")} - TOOLKITS
    breaches: list[str] = []
    for file in sorted(package.rglob("*.py")):
        importer = file.relative_to(package).parts[0]
        for line, module in _imported(file):
            parts = module.split(".")
            if parts[0] != "tintype" or len(parts) < 3 or parts[1] == importer:  # noqa: PLR2004 - tintype.room.module
                continue
            if parts[1] in rooms and not _is_door(package.parent.joinpath(*parts)):
                breaches.append(f"{file.relative_to(checkout)}:{line} {module}")
    return breaches


def _is_door(path: Path) -> bool:
    """Whether this is a package with a docstring that declares it a front door of its own."""
    door = path / "__init__.py"
    return door.exists() and "front door" in (ast.get_docstring(ast.parse(door.read_text())) or "").lower()


def _imported(file: Path) -> Iterator[tuple[int, str]]:
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, each.name) for each in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.lineno, node.module


def find_breaches() -> list[str]:
    """Everything that is wrong, as sentences."""
    ownership = Ownership.load()
    foreign = find_foreign_uses(ownership)
    return [
        *(f"{each}: import the room's front door instead" for each in find_door_breaches()),
        *(
            f"{use}, a table of {ownership.owners[use.table]}: call a method of its owner, or list it in ownership.toml"
            for use in sorted(foreign - ownership.allowed)
        ),
        *(f"ownership.toml allows what nobody does: {use}" for use in sorted(ownership.allowed - foreign)),
    ]


if __name__ == "__main__":
    found = find_breaches()
    print("\n".join(found) or "Front doors and table ownership hold.")
    sys.exit(1 if found else 0)
