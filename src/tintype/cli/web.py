"""`tintype web`: runs the web server."""

import os
from typing import Annotated

import typer


def web(
    *,
    host: Annotated[
        str | None, typer.Option(help="Address to listen on; default: the setting http_host.")
    ] = None,
    port: Annotated[
        int | None, typer.Option(help="Port to listen on; default: the setting http_port.")
    ] = None,
) -> None:
    """Serve the app over HTTP. `tintype up` starts this for you; run it separately on dedicated web machines."""
    from tintype.base.metrics import VARIABLE, make_shared_folder  # noqa: PLC0415 - see below
    from tintype.cli.running_stack import running_settings  # noqa: PLC0415 - see below

    settings = running_settings()
    if settings.web_workers > 1 and VARIABLE not in os.environ:
        os.environ[VARIABLE] = make_shared_folder(settings.home)
    # Metrics decide at import whether they are shared between processes: the folder must be chosen before.
    from tintype.cli.http_server import serve  # noqa: PLC0415 - slow to import: paid only by those who need it

    serve(settings, host=host or settings.http_host, port=port or settings.http_port)
