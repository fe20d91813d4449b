"""Security headers of every response, and the Content-Security-Policy of the web app."""

CONTENT_SECURITY_POLICY = (
    "default-src 'self'; img-src 'self' blob: data:; media-src 'self' blob:; connect-src 'self'; "
    "style-src 'self'; script-src 'self'; object-src 'none'; base-uri 'none'; frame-ancestors 'none'; "
    "form-action 'self'"
)
"""`connect-src 'self'` covers WebSockets to the site itself as well (CSP 3)."""
SECURITY_HEADERS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "geolocation=(self), camera=(self), microphone=(self)",
    # Whatever may be cached says so itself; everything else is somebody's own.
    "Cache-Control": "no-store",
}
HEADER_PAIRS = [(name.lower().encode(), value.encode()) for name, value in SECURITY_HEADERS.items()]
FRAME_OPTIONS = b"x-frame-options"
HTTPS_ONLY = (b"strict-transport-security", b"max-age=31536000")


def add_security_headers(headers: list[tuple[bytes, bytes]], *, is_https: bool = False) -> None:
    """Add the security headers that a response does not set itself. The names in `headers` are in lower case."""
    present = {name for name, _ in headers}
    # Older browsers know this header alone, and it cannot say "anywhere": a page that may be framed goes without it.
    left_out = {FRAME_OPTIONS} if any(map(_may_be_framed, headers)) else set[bytes]()
    headers += [pair for pair in HEADER_PAIRS if pair[0] not in present | left_out]
    if is_https and HTTPS_ONLY[0] not in present:
        headers.append(HTTPS_ONLY)


def _may_be_framed(header: tuple[bytes, bytes]) -> bool:
    return header[0] == b"content-security-policy" and b"frame-ancestors *" in header[1]
