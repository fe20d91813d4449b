"""Executes the README and the pages of docs: writes their files, runs their commands, compares their output."""

import re
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # tests are not packages; their helper lies beside them
from pages import Shell, run_page

PROJECT = Path(__file__).parents[2]
README = PROJECT / "README.md"


@pytest.fixture
def shell(run_directory: Path) -> Iterator[Shell]:
    directory = Path(tempfile.mkdtemp(prefix="readme-", dir=run_directory))
    directory.chmod(0o711)  # PostgreSQL runs under another account where the tests run as root
    shell = Shell(directory)
    yield shell
    if (directory / "demo").exists():
        shell.run("shardwright local stop ./demo")


@pytest.mark.slow
def test_the_readme_commands_work_and_print_what_it_shows(shell: Shell) -> None:
    assert run_page(README, shell) == 3


@pytest.mark.slow
@pytest.mark.parametrize("page", ["drivers", "django", "coming-from"])
def test_the_commands_of_a_page_work_and_print_what_it_shows(page: str, shell: Shell) -> None:
    assert run_page(PROJECT / "docs" / f"{page}.md", shell) >= 1


def test_the_extras_that_the_pages_install_exist() -> None:
    pages = [README, *(PROJECT / "docs").glob("*.md")]
    named = [each for page in pages for each in re.findall(r"'shardwright\[([\w,]+)\]'", page.read_text())]
    extras = {extra for each in named for extra in each.split(",")}
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]

    assert extras
    assert extras <= set(project["optional-dependencies"])


@pytest.mark.parametrize(
    "page", [README, *sorted((PROJECT / "docs").glob("*.md"))], ids=lambda page: page.stem
)
def test_every_page_that_a_page_links_to_exists(page: Path) -> None:
    links = re.findall(r"\]\((?!http)([^)#]+)\)", page.read_text())

    assert [link for link in links if not (page.parent / link).is_file()] == []


def test_the_readme_links_to_every_page() -> None:
    links = re.findall(r"\]\((?!http)([^)#]+)\)", README.read_text())

    assert {f"docs/{page.name}" for page in (PROJECT / "docs").glob("*.md")} <= set(links)
