"""The files under deploy/, and what of this machine can check them."""

import os
import re
import shutil
import subprocess
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
DEPLOY = CHECKOUT / "deploy"


def find_program(name: str) -> str | None:
    """A program of this machine, also where only root's PATH looks."""
    return shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin:/usr/local/sbin")


def run_check(*command: str, **options: str | None) -> str:
    """Run a program that checks a file; the test fails with what it said where it is not content."""
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=60, cwd=options.get("cwd")
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def read_env(file: Path) -> dict[str, str]:
    """The variables of an env file."""
    lines = [line for line in file.read_text().splitlines() if line and not line.startswith("#")]
    return {name: value for name, _, value in (line.partition("=") for line in lines)}


def substitute(text: str, variables: dict[str, str]) -> str:
    """A text with `${NAME}` and `${NAME:?why}` replaced, as Compose does it."""
    return re.sub(r"\$\{(\w+)(?::\?[^}]*)?\}", lambda found: variables[found[1]], text)
