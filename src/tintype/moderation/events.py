"""What the moderation room announces, for itself."""

from tintype.base.events import Event
from tintype.base.ids import AccountId


class CaseDecided(Event, frozen=True):
    """A moderator decided; what follows on other shards is done by whoever hears this."""

    case_id: int
    act_id: int
    action: str
    owner_id: AccountId
    moderator_id: AccountId
