"""The addresses of the web app, as `web/src/app/routes.ts` has them: which exist, and what they point to.

`:name` stands for a segment or the rest of one. A test holds this list against the app's.
"""

import re

from shardwright.errors import InvalidId
from shardwright.ids import SHORT_LENGTH, decode_short
from tintype.base.ids import LARGEST_ID, PostId
from tintype.previews import Link, PlaceLink, PostLink, ProfileLink, TagLink

APP_ROUTES = (
    "/",
    "/join",
    "/login",
    "/forgot-password",
    "/reset-password",
    "/confirm-email",
    "/welcome",
    "/create",
    "/preferences",
    "/settings",
    "/settings/:section",
    "/@:username",
    "/@:username/followers",
    "/@:username/following",
    "/@:username/:tab",
    "/archive",
    "/scheduled",
    "/saved",
    "/saved/:collection",
    "/requests",
    "/suggestions",
    "/search",
    "/explore",
    "/tags/:tag",
    "/places/:place",
    "/activity",
    "/messages",
    "/messages/:view",
    "/decisions",
    "/moderation",
    "/moderation/log",
    "/moderation/cases/:caseId",
    "/stories/new",
    "/stories/:accountId",
    "/highlights/:highlightId",
    "/p/:code",
)
_PATTERN = re.compile("|".join(re.sub(r":\w+", "[^/]+", route) for route in APP_ROUTES))
_POST, _PROFILE = re.compile(r"/p/([0-9A-Za-z]+)"), re.compile(r"/@([^/]+)(?:/[^/]+)?")
_TAG, _PLACE = re.compile(r"/tags/([^/]+)"), re.compile(r"/places/([^/]+)")
_POINTS_SOMEWHERE = ("/p/", "/@", "/tags/", "/places/")
MAX_DIGITS = 19


def is_app_route(path: str) -> bool:
    """Whether the app has a page at this path, whatever it shows."""
    return _PATTERN.fullmatch(path) is not None


def is_for_moderators(path: str) -> bool:
    """Whether the page exists for moderators alone."""
    return path == "/moderation" or path.startswith("/moderation/")


def points_somewhere(path: str) -> bool:
    """Whether the path is one of a post, profile, hashtag or place, which may exist or not."""
    return path.startswith(_POINTS_SOMEWHERE)


def find_link(path: str) -> Link | None:
    """What a decoded path points to; None for the other pages, and for what cannot exist."""
    if found := _POST.fullmatch(path):
        post_id = _post_id(found[1])
        return PostLink(post_id) if post_id else None
    if found := _PROFILE.fullmatch(path):
        return ProfileLink(found[1])
    if found := _TAG.fullmatch(path):
        return TagLink(found[1])
    found = _PLACE.fullmatch(path)
    return PlaceLink(found[1]) if found else None


def _post_id(code: str) -> PostId | None:
    """A post's id from the short code of its permalink, or from its digits."""
    if len(code) == SHORT_LENGTH:
        try:
            return PostId(decode_short(code))
        except InvalidId:
            return None
    is_number = code.isascii() and code.isdigit() and len(code) <= MAX_DIGITS
    return PostId(int(code)) if is_number and 0 < int(code) <= LARGEST_ID else None
