"""The class of rate limits (`base/rate_limits.py`) of each route: reads or writes, unless it is named here."""

from functools import lru_cache

from tintype.api.http.cross_site import SAFE_METHODS
from tintype.base.rate_limits import RequestClass

API = "/api/v1"
UNLIMITED = frozenset({"/healthz", "/readyz"})
"""Asked by monitors, which must never be refused."""
CLASSES: dict[RequestClass, tuple[str, ...]] = {
    "search": (
        "GET /search",
        "GET /search/people",
        "GET /search/places",
        "GET /search/posts",
        "GET /search/tags",
        "GET /places/nearby",
        "GET /direct/search",
    ),
    "downloads": ("GET /accounts/me/exports/{export_id}/file", "GET /media/{media_id}/original"),
    "uploads": (
        "POST /media/upload",
        "POST /media/tus",
        "POST /media/presigned",
        "POST /media/{media_id}/edits",
        "POST /imports/{import_id}/archives",
        "POST /direct/encryption/attachments",
    ),
    "posts": ("POST /posts",),
    "stories": ("POST /stories",),
    "likes": (
        "PUT /posts/{post_id}/like",
        "DELETE /posts/{post_id}/like",
        "PUT /comments/{comment_id}/like",
        "DELETE /comments/{comment_id}/like",
        "PUT /stories/{story_id}/reaction",
        "DELETE /stories/{story_id}/reaction",
        "PUT /stories/{story_id}/vote",
    ),
    "follows": ("PUT /accounts/{account_id}/follow",),
    "comments": (
        "POST /posts/{post_id}/comments",
        "POST /stories/{story_id}/replies",
        "PUT /stories/{story_id}/answer",
    ),
    "reports": ("POST /reports", "POST /decisions/{case_id}/appeal"),
    "messages": (
        "POST /direct/threads/{thread_id}/messages",
        "POST /direct/threads/{thread_id}/encryption/messages",
        "PUT /direct/threads/{thread_id}/messages/{message_id}/text",
        "PUT /direct/threads/{thread_id}/messages/{message_id}/unsent",
        "PUT /direct/threads/{thread_id}/messages/{message_id}/reaction",
    ),
    "exports": ("POST /accounts/me/exports",),
}
_BY_ROUTE: dict[str, RequestClass] = {
    f"{method} {API}{path}": name
    for name, routes in CLASSES.items()
    for method, path in (route.split(" ", 1) for route in routes)
}


@lru_cache(maxsize=2_000)
def class_of(method: str, template: str) -> RequestClass | None:
    """The class of a route, by its method and the template of its path; None for routes without limits."""
    if template in UNLIMITED:
        return None
    named = _BY_ROUTE.get(f"{method} {template}")
    if named is not None:
        return named
    if template.startswith("/media/"):
        return "files"
    if not template.startswith(f"{API}/"):
        return "pages"
    return "reads" if method in SAFE_METHODS else "writes"
