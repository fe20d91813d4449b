"""How the moderation room says no."""

from tintype.base.errors import Conflict, Forbidden, Invalid, NotFound


class NotAModerator(NotFound):
    """Not Found"""  # noqa: D400, D415 - the very words of an address that does not exist

    code = "not_found"


class CaseNotFound(NotFound):
    """There is no such case."""

    code = "case_not_found"


class ObjectNotFound(NotFound):
    """There is no such thing, or you may not see it."""

    code = "object_not_found"


class OwnObject(Invalid):
    """That is yours; you can change or delete it yourself."""

    code = "own_object"


class TextTooLong(Invalid):
    """Say it in at most 1,000 characters."""

    code = "text_too_long"


class TextMissing(Invalid):
    """Say why: the log keeps it."""

    code = "text_missing"


class ActionUnsuitable(Invalid):
    """That cannot be done to this kind of thing; to suspend an author, open the case of the account."""

    code = "action_unsuitable"


class ObjectGone(Conflict):
    """It was deleted; that cannot be undone."""

    code = "object_deleted"


class CaseClaimed(Conflict):
    """Another moderator is looking at this case."""

    code = "case_claimed"


class OwnCase(Forbidden):
    """Nobody decides about what is theirs."""

    code = "own_case"


class RankTooLow(Forbidden):
    """Only an operator decides about moderators and operators."""

    code = "rank_too_low"


class AppealClosed(Conflict):
    """There is nothing to appeal against, or you have done so already."""

    code = "appeal_closed"
