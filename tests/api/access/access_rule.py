"""Access rules: for a route, which kind of caller gets which status, and how to call it.

The constants are sets of answers that many routes share. Numbers are HTTP statuses; "ok" is any status of success.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from tests.api.access.scenario import Actor, Kind, Scenario

Expected = int | str
Answers = dict[str, Expected]
ByKind = dict[str, Answers]
Prepare = Callable[[Scenario, Kind, Actor], Awaitable[dict[str, Any]]]

OK = "ok"
EVERYBODY: Answers = dict.fromkeys(("anonymous", "stranger", "follower", "blocked", "owner", "moderator"), OK)
PEOPLE = EVERYBODY | {"anonymous": 401}
CARD = EVERYBODY | {"blocked": 404}
SIGNED_IN_CARD = CARD | {"anonymous": 401}
CONTENT: ByKind = {
    "public": CARD,
    "private": CARD | {"anonymous": 404, "stranger": 404, "moderator": 404},
}
TOUCH: ByKind = {kind: {**answers, "anonymous": 401} for kind, answers in CONTENT.items()}
NOT_YOURS: ByKind = {
    "public": TOUCH["public"] | {"stranger": 403, "follower": 403, "moderator": 403},
    "private": TOUCH["private"] | {"follower": 403},
}
OWN: ByKind = {kind: dict.fromkeys(EVERYBODY, 404) | {"anonymous": 401, "owner": OK} for kind in CONTENT}
MODERATORS = PEOPLE | dict.fromkeys(("stranger", "follower", "blocked", "owner"), 404)

Shown = dict[str, str]
POST: Shown = dict.fromkeys(CONTENT, "post_id")
COMMENT: Shown = dict.fromkeys(CONTENT, "comment_id")
PERSON: Shown = dict.fromkeys(CONTENT, "account_id")


@dataclass(frozen=True)
class AccessRule:
    """The access rule of one route."""

    answers: ByKind
    body: Any = None
    """The JSON to send, or a function of the scenario and the kind of author that gives it."""
    params: Mapping[str, str] = field(default_factory=dict[str, str])
    prepare: Prepare | None = None
    """Creates what this call needs: names fill the path; `json`, `params`, `files`, `headers` go with the call."""
    hides: bool = False
    """Whether a 404 must equal the 404 for an object that never existed."""
    shows: Shown = field(default_factory=dict[str, str])
    """Whose id, by kind of author, is in the response for all who have access and may see it, and for nobody else."""
    is_blind: bool = False
    """Whether a success must look the same for objects that do not exist: removing reveals nothing."""
    shows_all: bool = False
    """Whether those with access may see what is hidden elsewhere: moderators, and who signs in as the author."""
    scope: bool = True
    """Whether it needs a credential at all, so that an API token without the route's scope is refused."""


def access(answers: Answers | ByKind, **options: Any) -> AccessRule:
    """A rule from one set of answers for both kinds of author, or from one for each."""
    whole = answers if "public" in answers else {"public": answers, "private": answers}
    return AccessRule(cast("ByKind", whole), **options)


def anybody(status: int) -> Answers:
    """Everybody gets this answer, signed in or not."""
    return dict.fromkeys(EVERYBODY, status)


def nobody(status: int) -> Answers:
    """Everybody signed in gets this answer."""
    return anybody(status) | {"anonymous": 401}
