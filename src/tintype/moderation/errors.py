"""Why the moderation room refuses a request."""

from tintype.base.errors import Conflict, Forbidden, Invalid, NotFound


class NotAModerator(NotFound):
    """Not Found"""  # noqa: D400, D415 - the very words of an address that does not exist

    code = "not_found"


class CaseNotFound(NotFound):
    """There is no such case."""

    code = "case_not_found"


class ObjectNotFound(NotFound):
    """That does not exist, or you may not see it."""

    code = "object_not_found"


class OwnObject(Invalid):
    """You can't report your own content; change or delete it instead."""

    code = "own_object"


class TextTooLong(Invalid):
    """Use at most 1,000 characters."""

    code = "text_too_long"


class TextMissing(Invalid):
    """Give a reason; it is stored in the log."""

    code = "text_missing"


class ActionUnsuitable(Invalid):
    """That action is not possible for this kind of content; to suspend an author, open a case about the account."""

    code = "action_unsuitable"


class ObjectGone(Conflict):
    """It was deleted, and that can't be undone."""

    code = "object_deleted"


class CaseClaimed(Conflict):
    """Another moderator has claimed this case."""

    code = "case_claimed"


class OwnCase(Forbidden):
    """You can't decide a case about your own content."""

    code = "own_case"


class RankTooLow(Forbidden):
    """Only an operator can decide cases about moderators and operators."""

    code = "rank_too_low"


class AppealClosed(Conflict):
    """There is no decision to appeal against, or you have appealed already."""

    code = "appeal_closed"
