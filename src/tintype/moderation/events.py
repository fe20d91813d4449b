"""Events of the moderation room, for itself."""

from tintype.base.events import Event
from tintype.base.ids import AccountId


class CaseDecided(Event, frozen=True):
    """A moderator decided a case; the handler applies the effects on other shards."""

    case_id: int
    act_id: int
    action: str
    owner_id: AccountId
    moderator_id: AccountId
