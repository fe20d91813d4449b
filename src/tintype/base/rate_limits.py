"""Every rate limit of the site, in one table. docs/limits.md is written from it.

Two kinds. `REQUEST_LIMITS` apply to every HTTP route, by the class of the route: they are counted in the process and
shared through Redis once a second (`redis/request_budgets.py`), so that a read never waits for them. `ACTION_LIMITS`
are few and strict: they are counted in Redis, one attempt at a time (`redis/rate_limits.py`).

A limit allows a burst of `count` and then one every `per_s / count` seconds. The setting `rate_limits` replaces any of
them by name.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from tintype.base.errors import SettingsInvalid

MINUTE_S, HOUR_S, DAY_S = 60, 3_600, 86_400
EVERY_LIMIT, NO_LIMIT = "all", "off"


@dataclass(frozen=True)
class RateLimit:
    """At most `count` in a burst, and as many in every `per_s` seconds in the long run. Zero: no limit."""

    name: str
    count: int
    per_s: float
    what: str = ""
    """What is counted, and for whom, as docs/limits.md shows it."""

    @cached_property
    def policy(self) -> str:
        """The limit as an item of the header RateLimit-Policy."""
        return f'"{self.name}";q={self.count};w={round(self.per_s)}'


RequestClass = Literal[
    "reads", "search", "downloads", "files", "pages",
    "writes", "uploads", "posts", "stories", "likes", "follows", "comments", "reports", "exports",
    "messages",
]  # fmt: skip


@dataclass(frozen=True)
class RequestLimit:
    """The limits of one class of routes: per signed-in account, and per network address."""

    name: RequestClass
    what: str
    per_account: tuple[int, int] | None
    """Count and seconds; None where an action limit counts the account, or where nobody is signed in."""
    per_address: tuple[int, int]
    """Much higher: a school or an office shares one address."""


# The sizes: a person who scrolls fast makes 5 requests a second, a page of the app 20 at once, a school of 1,000 pupils
# behind one address a tenth of what each of them may.
REQUEST_LIMITS: tuple[RequestLimit, ...] = (
    RequestLimit(
        "reads", "Reading the API: feed, profiles, lists, media", (3_000, MINUTE_S), (30_000, MINUTE_S)
    ),
    RequestLimit(
        "search",
        "Searching people, tags, places and captions, and places nearby",
        (600, MINUTE_S),
        (12_000, MINUTE_S),
    ),
    RequestLimit("downloads", "Downloading originals and exports", (300, HOUR_S), (6_000, HOUR_S)),
    RequestLimit("files", "Photos and videos below /media/", None, (120_000, MINUTE_S)),
    RequestLimit("pages", "The web app and the API's documentation", None, (30_000, MINUTE_S)),
    RequestLimit("writes", "Every other change", (1_800, MINUTE_S), (36_000, MINUTE_S)),
    RequestLimit("uploads", "Starting an upload, editing a photo", (600, HOUR_S), (20_000, HOUR_S)),
    RequestLimit("posts", "Publishing a post", (120, HOUR_S), (6_000, HOUR_S)),
    RequestLimit("stories", "Publishing a story", (240, HOUR_S), (6_000, HOUR_S)),
    RequestLimit(
        "likes",
        "Liking posts and comments, reacting to stories, voting in them",
        (1_800, HOUR_S),
        (60_000, HOUR_S),
    ),
    RequestLimit("follows", "Following and asking to follow", None, (20_000, HOUR_S)),
    RequestLimit("comments", "Commenting, replying to stories and answering them", None, (20_000, HOUR_S)),
    RequestLimit("messages", "Sending direct messages, and changing them", None, (60_000, HOUR_S)),
    RequestLimit("reports", "Reports and appeals", None, (2_000, HOUR_S)),
    RequestLimit("exports", "Asking for an export of one's data", None, (500, DAY_S)),
)

FOLLOW = RateLimit("follow", 400, HOUR_S, "Follows per account")
BLOCK = RateLimit("block", 300, HOUR_S, "Blocks per account")
PREFERENCE = RateLimit("attitude", 1_000, HOUR_S, "Mutes, restrictions and close friends per account")
COMMENT = RateLimit("comment", 30, 300, "Comments per account")
STORY_REACTION = RateLimit("story-reactions", 120, 600, "Reactions to stories per account")
STORY_REPLY = RateLimit("story-replies", 60, 600, "Replies to stories per account")
STORY_VOTE = RateLimit("story-votes", 240, 600, "Votes in polls and reminders of countdowns per account")
STORY_ANSWER = RateLimit("story-answers", 60, 600, "Answers to questions in stories per account")
DIRECT_MESSAGE = RateLimit("direct", 120, MINUTE_S, "Direct messages, edits and reactions per account")
DIRECT_CONTACT = RateLimit(
    "direct-contacts", 60, HOUR_S, "New conversations, and people added to groups, per account"
)
ENCRYPTION_SETUP = RateLimit(
    "encryption-setup",
    120,
    HOUR_S,
    "Devices, key packages and new beginnings of encrypted threads per account",
)
ENCRYPTION_COMMIT = RateLimit(
    "encryption-commits", 240, HOUR_S, "Changes of keys in encrypted threads per account"
)
ENCRYPTED_UPLOAD = RateLimit("encrypted-uploads", 120, HOUR_S, "Encrypted files per account")
ENCRYPTION_BACKUP = RateLimit("encryption-backup", 600, HOUR_S, "Parts of the backup written per account")
KEY_PACKAGES = RateLimit("key-packages", 120, HOUR_S, "Requests for the key packages of others per account")
REPORT = RateLimit("report", 30, HOUR_S, "Reports per account")
APPEAL = RateLimit("appeal", 10, DAY_S, "Appeals per account")
PLACE = RateLimit("places", 50, DAY_S, "New places per account")
IMPRESSIONS = RateLimit("ranking-seen", 120, MINUTE_S, "Reports of seen posts per account")
EXPORT = RateLimit("export", 5, DAY_S, "Exports per account")
IMPORT = RateLimit("import", 20, DAY_S, "Imports per account")
SIGN_UP = RateLimit("join", 10, HOUR_S, "New accounts per address")
INVITATION = RateLimit("invitations", 30, DAY_S, "New invitation links per account")
SIGN_IN_PER_NETWORK = RateLimit("sign-in-network", 60, 600, "Sign-ins per address")
SIGN_IN_PER_PAIR = RateLimit("sign-in-pair", 10, 600, "Sign-ins per name and address")
SIGN_IN_PER_NAME = RateLimit("sign-in-name", 100, HOUR_S, "Sign-ins per name")
SIGN_IN_PER_DEVICE = RateLimit("sign-in-device", 10, 300, "Sign-ins per known device")
SECOND_FACTOR = RateLimit("second-factor", 10, 600, "Second factors per account")
REAUTHENTICATION = RateLimit("proof", 10, 600, "Proofs of identity per account")
MAIL_PER_NETWORK = RateLimit("mail-network", 20, HOUR_S, "Requests for a mail per address")
MAIL_PER_NAME = RateLimit("mail-name", 3, 1_800, "Requests for a mail per name")
MAIL_PER_ACCOUNT = RateLimit("mail-account", 5, 1_800, "Requests for a mail per account")
PHONE_CLAIM = RateLimit("claim", 10, DAY_S, "Phone numbers claimed per account")
COMMAND = RateLimit("commands", 1_200, MINUTE_S, "Commands over the live connection per account")
USERNAME_CHECK = RateLimit("look-up", 100, 600, "Checks whether a username is free per address")
USERNAME_CHANGE = RateLimit("rename", 3, 14 * DAY_S, "Changes of username per account")

ACTION_LIMITS: tuple[RateLimit, ...] = (
    FOLLOW, BLOCK, PREFERENCE, COMMENT, STORY_REACTION, STORY_REPLY, STORY_VOTE, STORY_ANSWER, DIRECT_MESSAGE,
    DIRECT_CONTACT, ENCRYPTION_SETUP, ENCRYPTION_COMMIT, ENCRYPTED_UPLOAD, ENCRYPTION_BACKUP, KEY_PACKAGES,
    REPORT, APPEAL, PLACE, IMPRESSIONS, EXPORT, IMPORT, SIGN_UP, INVITATION, SIGN_IN_PER_NETWORK,
    SIGN_IN_PER_PAIR, SIGN_IN_PER_NAME, SIGN_IN_PER_DEVICE, SECOND_FACTOR, REAUTHENTICATION, MAIL_PER_NETWORK,
    MAIL_PER_NAME, MAIL_PER_ACCOUNT, PHONE_CLAIM, USERNAME_CHECK, USERNAME_CHANGE, COMMAND,
)  # fmt: skip


def account_limit(row: RequestLimit) -> RateLimit | None:
    """The limit of a class of routes per account; it has the name of the class."""
    return RateLimit(row.name, *row.per_account, f"{row.what}: per account") if row.per_account else None


def address_limit(row: RequestLimit) -> RateLimit:
    """The limit of a class of routes per address."""
    return RateLimit(f"{row.name}-address", *row.per_address, f"{row.what}: per address")


def all_limits() -> list[RateLimit]:
    """Every limit, as the table has it."""
    per_account = (account_limit(row) for row in REQUEST_LIMITS)
    per_address = (address_limit(row) for row in REQUEST_LIMITS)
    return [*(each for each in per_account if each), *per_address, *ACTION_LIMITS]


class LimitOverrides:
    """The limits in effect: those of the table, unless the setting `rate_limits` replaces them."""

    def __init__(self, overrides: Iterable[str] = ()) -> None:
        known = {limit.name: limit for limit in all_limits()}
        self._replaced: dict[str, RateLimit] = {}
        for each in overrides:
            name, _, text = (part.strip() for part in each.partition("="))
            count, per_s = _parse(each, text)
            for limit in _named(known, name, each):
                self._replaced[limit.name] = replace(limit, count=count, per_s=per_s or limit.per_s)

    def effective(self, limit: RateLimit) -> RateLimit:
        """The limit in effect under this one's name."""
        return self._replaced.get(limit.name, limit)


def _named(known: Mapping[str, RateLimit], name: str, text: str) -> Iterable[RateLimit]:
    if name == EVERY_LIMIT:
        return known.values()
    if name not in known:
        raise SettingsInvalid(f"rate_limits: there is no limit {name!r} ({text}); docs/limits.md lists them.")
    return (known[name],)


def _parse(item: str, text: str) -> tuple[int, int]:
    """Count and seconds of `100/60`; `off` is a count of zero."""
    count, _, per_s = text.partition("/")
    if text == NO_LIMIT:
        return 0, 0
    if not (count.isascii() and count.isdigit() and per_s.isascii() and per_s.isdigit()):
        raise SettingsInvalid(f"rate_limits: {item!r} is not name=count/seconds or name=off.")
    if not (0 < int(count) <= 10**9 and 0 < int(per_s) <= 366 * DAY_S):
        raise SettingsInvalid(f"rate_limits: {item!r} needs a count and a number of seconds above zero.")
    return int(count), int(per_s)
