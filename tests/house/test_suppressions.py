"""Every suppression of a linter or type checker says why it is there."""

import re
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
FOLDERS = (
    "src",
    "shardwright",
    "tests",
    "bench",
    "develop",
    "web/src",
    "web/e2e",
    "web/tests",
    "web/scripts",
)
SUPPRESSION = re.compile(
    r"#\s*(?:noqa|type:\s*ignore|pyright:\s*ignore)|(?://|<!--|\{?/\*)\s*(?:biome-ignore|@ts-expect-error|@ts-ignore|svelte-ignore)"
)
REASONED = re.compile(
    r"""
      noqa:\s[A-Z0-9]+(?:,\s?[A-Z0-9]+)*(?:\s-\s|\s+\#\s)\S+
    | (?:pyright|type):\s*ignore\[[\w,\s-]+\](?:\s-\s|\s+\#\s)\S+
    | (?:biome-ignore|svelte-ignore|@ts-expect-error)\s.*(?::\s|\s-\s|\s\()\S+
    """,
    re.VERBOSE,
)


@pytest.mark.slow
def test_every_suppression_has_its_reason() -> None:
    sources = [
        file
        for folder in FOLDERS
        for file in sorted((CHECKOUT / folder).rglob("*"))
        if file.suffix in {".py", ".ts", ".mjs", ".svelte"} and file != Path(__file__)
    ]
    bare = [
        f"{file.relative_to(CHECKOUT)}:{number}: {line.strip()}"
        for file in sources
        for number, line in enumerate(file.read_text().splitlines(), start=1)
        if SUPPRESSION.search(line) and not REASONED.search(line)
    ]

    assert bare == []


def test_a_bare_suppression_is_found() -> None:
    assert SUPPRESSION.search("value = 3  # noqa: PLR2004")
    assert not REASONED.search("value = 3  # noqa: PLR2004")
    assert REASONED.search("value = 3  # noqa: PLR2004 - the number of corners")
