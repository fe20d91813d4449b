"""`./tintype check`: all static checks."""

from pathlib import Path

import typer

from develop.steps import BIN, CHECKOUT, Step, npm, run_all

MIGRATIONS = Path("src/tintype/schema/migrations")


def check() -> None:
    """Lint, format, types, import contracts and migrations; Python and TypeScript."""
    steps = [
        Step("ruff", [BIN / "ruff", "check", "."]),
        Step("ruff format", [BIN / "ruff", "format", "--check", "."]),
        Step("pyright", [BIN / "pyright"]),
        Step("import contracts", [BIN / "lint-imports"]),
        Step("boundaries", [BIN / "python", "-m", "develop.boundaries"]),
        Step("migrations", [BIN / "shardwright", "lint", MIGRATIONS]),
        Step("client", [BIN / "python", "-m", "develop", "client", "--check"]),
        Step("reference pages", [BIN / "python", "-m", "develop", "docs", "--check"]),
        Step("web (biome, svelte-check, tsc)", npm("run", "--silent", "check"), CHECKOUT / "web"),
    ]
    raise typer.Exit(0 if run_all(steps) else 1)
