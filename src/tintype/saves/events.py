"""What the saves room announces, to the house alone: nobody learns what somebody keeps."""

from tintype.base.events import Event
from tintype.base.ids import AccountId, PostId


class PostSaved(Event, frozen=True):
    """Somebody keeps a post, or does not any more. Change ids of one post and person increase with time."""

    post_id: PostId
    account_id: AccountId
    change_id: int
    is_saved: bool
