"""A map kept by hand needs a test: ARCHITECTURE names every room and every table there is."""

import ast
import re
from pathlib import Path

from tintype.schema import SCHEMA_FILE

CHECKOUT = Path(__file__).resolve().parents[2]
ARCHITECTURE = (CHECKOUT / "ARCHITECTURE.md").read_text()


def test_architecture_names_every_room() -> None:
    rooms = [each.parent.name for each in (CHECKOUT / "src" / "tintype").glob("*/__init__.py")]

    assert [
        room for room in rooms if f"`{room}`" not in ARCHITECTURE and f"`{room}`," not in ARCHITECTURE
    ] == []


def test_architecture_names_every_table() -> None:
    tables = re.findall(r"CREATE TABLE (?:common\.)?(\w+)", SCHEMA_FILE.read_text())

    assert tables
    assert [table for table in tables if f"`{table}`" not in ARCHITECTURE] == []


def test_every_decision_has_its_four_parts() -> None:
    for page in sorted((CHECKOUT / "docs" / "adr").glob("0*.md")):
        text = page.read_text().lower()
        missing = [part for part in ("context", "choice", "cost", "change our mind") if part not in text]
        assert missing == [], page.name


def test_links_between_pages_lead_somewhere() -> None:
    pages = [*CHECKOUT.glob("*.md"), *CHECKOUT.glob("docs/**/*.md"), *CHECKOUT.glob("shardwright/**/*.md")]
    broken = [
        f"{page.relative_to(CHECKOUT)} → {link}"
        for page in pages
        for link in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text())
        if "://" not in link and not (page.parent / link).exists()
    ]

    assert broken == []


HOP = re.compile(r"`(src/tintype/[\w/]+\.py)`(?:\s+`([\w.]+)`)?")


def test_every_hop_of_the_walks_is_a_file_and_a_function_in_it() -> None:
    walks = ARCHITECTURE.split("## Walks")[1].split("\n## ")[0]
    hops = HOP.findall(walks)
    missing = [
        f"{file} {function}"
        for file, function in hops
        if not (CHECKOUT / file).exists() or (function and function not in _functions(CHECKOUT / file))
    ]

    assert walks.count("\n### ") == 4
    assert len(hops) > 20
    assert missing == []


def _functions(file: Path) -> set[str]:
    """Functions of a module, and methods as Class.method."""
    found: set[str] = set()
    for node in ast.parse(file.read_text()).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.ClassDef):
            found |= {
                f"{node.name}.{each.name}"
                for each in node.body
                if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)
            }
    return found
