"""Events of the saves room. They stay inside the system: nobody else learns what a person saves."""

from tintype.base.events import Event
from tintype.base.ids import AccountId, PostId


class PostSaved(Event, frozen=True):
    """Somebody saved a post, or unsaved it. Change ids of one post and person increase with time."""

    post_id: PostId
    account_id: AccountId
    change_id: int
    is_saved: bool
