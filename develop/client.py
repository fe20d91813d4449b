"""`./tintype client`: generates the web app's TypeScript types from the server's OpenAPI document."""

import subprocess
import tempfile
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from develop.steps import CHECKOUT, npm
from tintype.api import create_app
from tintype.base.settings import Settings

TYPES = CHECKOUT / "web" / "src" / "client" / "schema.ts"


def client(
    *,
    only_check: Annotated[
        bool, typer.Option("--check", help="Change nothing; fail when it differs.")
    ] = False,
) -> None:
    """Generate web/src/client/schema.ts."""
    with tempfile.TemporaryDirectory() as folder:
        document, made = Path(folder) / "openapi.json", Path(folder) / "schema.ts"
        document.write_bytes(msgspec.json.encode(create_app(Settings()).openapi_schema.to_schema()))
        command = [
            str(word) for word in npm("run", "--silent", "client", "--", document.as_uri(), made.as_uri())
        ]
        subprocess.run(command, cwd=CHECKOUT / "web", check=True)
        if not only_check:
            TYPES.write_bytes(made.read_bytes())
        elif TYPES.read_bytes() != made.read_bytes():
            typer.echo(
                "web/src/client/schema.ts differs from the server's OpenAPI document: run ./tintype client."
            )
            raise typer.Exit(1)
