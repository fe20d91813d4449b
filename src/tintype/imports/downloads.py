"""Pictures that an archive only names by their address, fetched from hosts that the operator has named."""

import urllib.request
from datetime import UTC, datetime
from http.client import HTTPMessage
from typing import IO
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit

from tintype.imports.archive_files import ArchiveFile

TIMEOUT_S = 60


def find_download(address: str, hosts: frozenset[str]) -> ArchiveFile | None:
    """The file at an address, if that is HTTPS at one of these hosts; it is fetched when it is read."""
    parts = urlsplit(address)
    if parts.scheme != "https" or parts.hostname not in hosts:
        return None
    return ArchiveFile(parts.hostname or "", address, 0, datetime.now(UTC), lambda: _fetch(address))


def _fetch(address: str) -> IO[bytes]:
    """Open an address; a redirection is an error, since it may lead to a host that nobody named."""
    request = urllib.request.Request(address, headers={"User-Agent": "tintype"})  # noqa: S310 - HTTPS alone
    try:
        return _DIRECT.open(request, timeout=TIMEOUT_S)
    except (HTTPError, URLError) as error:
        raise OSError(f"{address} could not be fetched: {error}") from error


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Follows no redirection."""

    def redirect_request(  # noqa: PLR0917 - as the base class has it
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: HTTPMessage,
        newurl: str,
    ) -> None:
        """Leave the answer as it is, which is then an error."""


_DIRECT = urllib.request.build_opener(_NoRedirects)
