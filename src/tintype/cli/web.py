"""`tintype web`: the HTTP process."""

import os
import shutil
from pathlib import Path
from typing import Annotated

import typer

from tintype.base.metrics import VARIABLE


def web(
    *,
    host: Annotated[
        str | None, typer.Option(help="Address to listen on; default: the setting http_host.")
    ] = None,
    port: Annotated[
        int | None, typer.Option(help="Port to listen on; default: the setting http_port.")
    ] = None,
) -> None:
    """Serve the app over HTTP. `tintype up` starts this for you; use it by itself on servers of their own."""
    from tintype.cli.running import running_settings  # noqa: PLC0415 - the metrics folder must be chosen first

    settings = running_settings()
    if settings.web_workers > 1:
        _share_metrics(settings.home / "run" / "metrics")
    from tintype.cli.serving import serve  # noqa: PLC0415 - imports prometheus_client, which reads the folder

    serve(settings, host=host or settings.http_host, port=port or settings.http_port)


def _share_metrics(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    os.environ[VARIABLE] = str(folder)
