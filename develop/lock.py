"""`./tintype lock`: writes the hashed locks anew from the two pyproject files, with no index address in them."""

import subprocess
import tempfile
from pathlib import Path

from develop.steps import CHECKOUT

UV_VERSION = "0.13.7"
COMMON = (
    *("--universal", "--python-version", "3.11", "--generate-hashes", "--quiet"),
    *("--no-emit-index-url", "--no-annotate", "--no-header"),
    *("--no-emit-package", "shardwright", "--no-emit-package", "tintype"),
)
PROJECTS = ["pyproject.toml", "shardwright/pyproject.toml"]


def lock() -> None:
    """Resolve what Tintype runs on, is developed with, and is installed by, and pin it with hashes."""
    compile_lock("run", [*PROJECTS, "--extra", "embedded", "--group", "build"])
    compile_lock(
        "dev",
        [
            *PROJECTS,
            "--extra",
            "embedded",
            "--extra",
            "mysql",
            "--group",
            "dev",
            "-c",
            "requirements/run.lock",
        ],
    )
    compile_lock("web", ["--group", "web", "-c", "requirements/dev.lock"])
    with tempfile.NamedTemporaryFile("w", suffix=".in") as wanted:
        wanted.write(f"uv=={UV_VERSION}\n")
        wanted.flush()
        compile_lock("uv", [wanted.name])


def compile_lock(name: str, sources: list[str]) -> None:
    """Write one lock file."""
    target = Path("requirements") / f"{name}.lock"
    subprocess.run(["uv", "pip", "compile", *sources, *COMMON, "-o", str(target)], cwd=CHECKOUT, check=True)  # noqa: S607 - uv is on PATH of a developer
