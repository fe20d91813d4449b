"""`/.well-known/security.txt` (RFC 9116): where to report a vulnerability."""

from datetime import UTC, datetime, timedelta
from email.utils import parseaddr

from litestar import Response, get

from tintype.api.http.dependencies import InjectedRooms
from tintype.base.settings import Settings

VALID_FOR = timedelta(days=180)
LOCAL_DOMAINS = ("localhost", "localdomain", "invalid", "local")
HEADERS = {"Cache-Control": "public, max-age=3600"}


@get("/.well-known/security.txt", include_in_schema=False, sync_to_thread=False)
def security_txt(rooms: InjectedRooms) -> Response[str]:
    """Where to report a vulnerability of this site."""
    settings = rooms.settings
    expires = (datetime.now(UTC) + VALID_FOR).replace(hour=0, minute=0, second=0, microsecond=0)
    lines = [f"Contact: {contact_of(settings)}", f"Expires: {expires:%Y-%m-%dT%H:%M:%SZ}"]
    if settings.public_url:
        lines.append(f"Canonical: {settings.public_url.rstrip('/')}/.well-known/security.txt")
    return Response("\n".join([*lines, ""]), media_type="text/plain", headers=HEADERS)


def contact_of(settings: Settings) -> str:
    """The contact that was set, else the one for push services, else the sender of mails, else the site itself."""
    sender = parseaddr(settings.mail_from)[1]
    is_real = "@" in sender and not sender.endswith(LOCAL_DOMAINS)
    site = settings.public_url or f"http://{settings.http_host}:{settings.http_port}/"
    return settings.security_contact or settings.push_contact or (f"mailto:{sender}" if is_real else site)
