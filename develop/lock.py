"""`./tintype lock`: regenerates the hashed lock files from the two pyproject files, without index addresses."""

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
    """Resolve and pin the dependencies for running, developing, building the web app, and uv itself, with hashes."""
    compile_lock("run", [*PROJECTS, "--extra", "embedded", "--group", "build"])
    compile_lock(
        "dev",
        [
            *PROJECTS,
            "--extra",
            "ann",
            "--extra",
            "embedded",
            "--extra",
            "mysql",
            "--extra",
            "train",
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
