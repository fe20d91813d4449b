"""Examples for the OpenAPI document, by the name of a field, else by its format or type."""

from typing import Any

AN_ID = "141402734592003"
BY_NAME: dict[str, Any] = {
    "type": "about:blank",
    "title": "Not found",
    "status": 404,
    "code": "post_not_found",
    "detail": "That post is gone, or you may not see it.",
    "request_id": "02a29010590adceb",
    "username": "ana.lens",
    "password": "a long sentence nobody else uses",
    "full_name": "Ana Lens",
    "bio": "Light, mostly.",
    "website": "https://ana.example",
    "email": "ana@example.org",
    "phone": "+491701234567",
    "caption": "First light over the harbour #morning with @bo",
    "text": "What light!",
    "alt_text": "Boats in a harbour at sunrise, seen from the pier.",
    "name": "Morning walks",
    "permalink": "/p/Ab3xKq9",
    "profile_pic_url": "/media/141402734592003/141402734592777-x1y2z3/150.jpg",
    "url": "/media/141402734592003/141402734592777-x1y2z3/1080.jpg",
    "placeholder": "3OcRJYB4d3h/iIeHeEh3eIhw+j2w",
    "next_cursor": "MToxNDE0MDI3MzQ1OTIwMDM",
    "token": "AAAAgJ…",
    "state": "visible",
    "width": 1080,
    "height": 1350,
    "hashtag": "morning",
    "word": "spoiler",
    "audience": "everyone",
    "media_type": "image",
    "media_url": "/media/141402734592003/141402734592777-x1y2z3/1080.jpg",
    "reaction": "🔥",
    "viewer_reaction": "🔥",
    "ttl_remaining": 86_391,
}
BY_FORMAT: dict[str, Any] = {
    "date-time": "2026-11-01T07:42:00Z",
    "date": "2026-11-01",
    "uri": "https://example.org",
}
BY_TYPE: dict[str, Any] = {"string": AN_ID, "integer": 12, "number": 0.5, "boolean": False}
