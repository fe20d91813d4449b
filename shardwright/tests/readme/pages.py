"""Executes a page of documentation: writes its files, runs its commands, compares their output."""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

_FENCE = re.compile(r"^```(?P<kind>\w+)(?: (?P<file>\S+))?\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
# What differs from run to run: times, sizes, the numbers of versions and shards chosen by chance.
_VARYING = re.compile(r"\d{4}-\d\d-\d\d(?! 12:00)|\d+\.\d MB|\d+/\d+|\b\d\d\.\d+\b|s00\d\d(?= \|)")


@dataclass(frozen=True)
class Block:
    """One fenced block of the page."""

    kind: str
    file: str | None
    body: str


def read_blocks(page: Path) -> list[Block]:
    return [Block(match["kind"], match["file"], match["body"]) for match in _FENCE.finditer(page.read_text())]


def pattern_of(shown: str) -> re.Pattern[str]:
    """Return a pattern for the output: as shown, with any spacing, and other values where they vary."""
    lines: list[str] = []
    for line in shown.strip().splitlines():
        parts = _VARYING.split(line)
        varying = _VARYING.findall(line)
        found = re.escape(parts[0])
        for value, part in zip(varying, parts[1:], strict=True):
            found += re.sub(r"\d+", r"\\d+", re.escape(value)) + re.escape(part)
        lines.append(re.sub(r"(\\ )+", r"\\s+", found) + r"\s*")
    return re.compile("\n".join(lines))


class Shell:
    """Runs blocks one after the other, as in one terminal: variables set by one are seen by the next."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        tools = Path(sys.executable).parent
        self._environment = {
            name: value for name, value in os.environ.items() if not name.startswith("SHARDWRIGHT_DIRECTORY")
        } | {"PATH": f"{tools}:{os.environ['PATH']}", "NO_COLOR": "1"}

    def run(self, script: str) -> str:
        kept = self.directory / ".environment"
        done = subprocess.run(
            [shutil.which("bash") or "/bin/bash", "-euo", "pipefail", "-c", f"{script}\nenv -0 > {kept}"],
            cwd=self.directory,
            env=self._environment,
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
        assert done.returncode == 0, f"{script}\n{done.stdout}\n{done.stderr}"
        pairs = (pair.partition("=") for pair in kept.read_text().split("\0") if pair)
        self._environment = {name: value for name, _, value in pairs}
        return done.stdout


def run_page(page: Path, shell: Shell) -> int:
    """Do what the page says; returns how many outputs were compared with what it shows."""
    compared, output = 0, ""
    for block in read_blocks(page):
        if block.file is not None:
            (shell.directory / block.file).parent.mkdir(parents=True, exist_ok=True)
            (shell.directory / block.file).write_text(block.body)
        elif block.kind == "bash" and not block.body.startswith("pip install"):
            output = shell.run(block.body)
        elif block.kind == "text" and output:
            assert pattern_of(block.body).fullmatch(output.strip() + "\n"), (
                f"shown:\n{block.body}\nseen:\n{output}"
            )
            compared, output = compared + 1, ""
        elif block.kind == "python":
            (shell.directory / "excerpt.py").write_text(block.body)
            shell.run("python excerpt.py")
    return compared
