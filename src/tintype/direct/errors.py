"""Errors of the direct room."""

from tintype.base.errors import Conflict, Forbidden, Invalid, NotFound


class ThreadNotFound(NotFound):
    """That conversation does not exist, or you are not in it."""

    code = "thread_not_found"


class MessageNotFound(NotFound):
    """That message is gone, or it is not in this conversation."""

    code = "message_not_found"


class MemberNotFound(NotFound):
    """That person is not in this conversation."""

    code = "member_not_found"


class MessageInvalid(Invalid):
    """A message must have 1 to 4,000 characters."""

    code = "message_invalid"


class MessageMediaInvalid(Invalid):
    """A message shows one photo or video that you uploaded within the last 24 hours and have not used yet."""

    code = "message_media_invalid"


class MutationInvalid(Invalid):
    """A device id and a local id have 1 to 64 letters, digits, dots, hyphens or underscores; a count begins at 1."""

    code = "mutation_invalid"


class ReactionInvalid(Invalid):
    """A reaction is an emoji."""

    code = "message_reaction_invalid"


class SearchInvalid(Invalid):
    """Search for at least one word."""

    code = "message_search_invalid"


class ThreadInvalid(Invalid):
    """A conversation needs at least one other person; a name has at most 60 characters."""

    code = "thread_invalid"


class LifetimeInvalid(Invalid):
    """Messages can disappear after one minute to four weeks."""

    code = "lifetime_invalid"


class TooManyMembers(Conflict):
    """A group has at most 250 people."""

    code = "too_many_members"


class NotAGroup(Conflict):
    """Only a group has a name, admins and members who come and go."""

    code = "not_a_group"


class NotThreadAdmin(Forbidden):
    """Only an admin of the group can do that."""

    code = "not_thread_admin"


class MessageNotYours(Forbidden):
    """You can only change what you wrote yourself."""

    code = "message_not_yours"


class TooLateToEdit(Conflict):
    """A message can be edited for 15 minutes."""

    code = "too_late_to_edit"


class MayNotWrite(Forbidden):
    """That person does not take messages from you."""

    code = "may_not_write"


class RecipientUnavailable(Forbidden):
    """That account is not in use at the moment."""

    code = "recipient_unavailable"


class RequestPending(Forbidden):
    """They have not accepted your request yet; wait until they do."""

    code = "request_pending"


class EarlierMissing(Conflict):
    """An earlier change of this device has not arrived yet; send that first."""

    code = "earlier_missing"


class CounterUsed(Conflict):
    """Your device has used that count for another change; the thread says how far it has come."""

    code = "counter_used"
