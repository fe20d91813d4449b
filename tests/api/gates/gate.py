"""What a table says of a route: who may pass, and how to knock.

A pattern names what usually goes together. Numbers are HTTP statuses; "ok" is any answer of success.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from tests.api.gates.world import Actor, Kind, World

Expected = int | str
Answers = dict[str, Expected]
ByKind = dict[str, Answers]
Prepare = Callable[[World, Kind, Actor], Awaitable[dict[str, Any]]]

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
class Gate:
    """One route's gate."""

    answers: ByKind
    body: Any = None
    """The JSON to send, or a function of the world and the kind of author that gives it."""
    params: Mapping[str, str] = field(default_factory=dict[str, str])
    prepare: Prepare | None = None
    """Makes what this one call needs: names fill the path; `json`, `params`, `files`, `headers` go with the call."""
    hides: bool = False
    """Whether a 404 must equal the 404 for something that was never made."""
    shows: Shown = field(default_factory=dict[str, str])
    """What of each kind of author is in the answer for all who pass and may see it, and for nobody else."""
    is_blind: bool = False
    """Whether success must not depend on there being such a thing: letting go says nothing of it."""
    shows_all: bool = False
    """Whether those who pass may see what is hidden elsewhere: moderators at work, and who signs in as the author."""
    scope: bool = True
    """Whether it asks for a credential at all, so that a program without the scope of the route is refused."""


def open_to(answers: Answers | ByKind, **options: Any) -> Gate:
    """A gate from one set of answers for both kinds of author, or from one for each."""
    whole = answers if "public" in answers else {"public": answers, "private": answers}
    return Gate(cast("ByKind", whole), **options)


def anybody(status: int) -> Answers:
    """Everybody gets this answer, signed in or not."""
    return dict.fromkeys(EVERYBODY, status)


def nobody(status: int) -> Answers:
    """Everybody signed in gets this answer."""
    return anybody(status) | {"anonymous": 401}
