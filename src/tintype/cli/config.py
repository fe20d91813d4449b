"""`tintype config`: every setting, its value and where it comes from."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from tintype.base.settings import Loaded, Settings, is_secret, load_settings

MASK = "••••••"


def config(
    *, as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")] = False
) -> None:
    """Show every setting, its value and where it came from. Secrets are masked.

    Settings live in tintype.toml in the checkout (or where TINTYPE_CONFIG points); an environment variable such as
    TINTYPE_HTTP_PORT=9000 overrides the file.
    """
    rows = effective(load_settings())
    if as_json:
        print(json.dumps(rows))
        return
    table = Table("setting", "value", "from")
    for name, row in rows.items():
        table.add_row(
            name, str(row["value"]), row["origin"], style="" if row["origin"] != "default" else "dim"
        )
    Console().print(table)


def effective(loaded: Loaded) -> dict[str, dict[str, Any]]:
    """Every setting with its origin, secrets masked."""
    return {
        name: {"value": _shown(name, getattr(loaded.settings, name)), "origin": loaded.origins[name]}
        for name in Settings.__struct_fields__
    }


def _shown(name: str, value: Any) -> Any:
    if is_secret(name) and value:
        return MASK if isinstance(value, str) else [MASK for _ in value]
    return str(value) if isinstance(value, Path) else value
