"""Security headers of every response, and the Content-Security-Policy of the web app."""

CONTENT_SECURITY_POLICY = (
    "default-src 'self'; img-src 'self' blob: data:; media-src 'self' blob:; connect-src 'self' ws: wss:; "
    "style-src 'self'; script-src 'self'; object-src 'none'; base-uri 'none'; frame-ancestors 'none'; "
    "form-action 'self'"
)
SECURITY_HEADERS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "geolocation=(self), camera=(self), microphone=(self)",
}
HEADER_PAIRS = [(name.lower().encode(), value.encode()) for name, value in SECURITY_HEADERS.items()]


def add_security_headers(headers: list[tuple[bytes, bytes]]) -> None:
    """Add the security headers that a response does not set itself. The names in `headers` are in lower case."""
    present = {name for name, _ in headers}
    headers += [pair for pair in HEADER_PAIRS if pair[0] not in present]
