"""What can be reported, and how each kind is shown to moderators, hidden, restored and deleted: one class per kind.

The rooms that own the objects decide who may see them and do the hiding; a new kind needs a class here and its name
in `kinds`.
"""

import contextlib
from typing import Protocol

from tintype.accounts import AccountGone, Accounts
from tintype.base.errors import NotFound
from tintype.base.ids import AccountId, CommentId, PostId
from tintype.comments import Comments
from tintype.direct import Direct, Evidence, MessageId, ThreadId
from tintype.graph import Visibility
from tintype.moderation.errors import ObjectNotFound
from tintype.moderation.kinds import ObjectKind, ObjectState
from tintype.moderation.models import Case, ObjectSnapshot
from tintype.posts import Posts
from tintype.stories import Stories, StoryId

LONGEST_EVIDENCE = 2_200


class Reportable(Protocol):
    """A kind of object that can be reported, and what moderators can do with it."""

    async def get_snapshot(self, object_id: int, viewer: AccountId) -> ObjectSnapshot:
        """The object as the viewer may see it; refused if the viewer may not."""
        ...

    async def apply_state(self, case: Case, state: ObjectState, by: AccountId) -> None:
        """Bring the object into this state; nothing changes if it is in it already."""
        ...


class ReportableAccounts:
    """Accounts: suspending one ends all its sessions at once."""

    def __init__(self, visibility: Visibility, accounts: Accounts) -> None:
        self._visibility, self._accounts = visibility, accounts

    async def get_snapshot(self, object_id: int, viewer: AccountId) -> ObjectSnapshot:
        """The owner of a reported account and its profile, as the viewer sees it."""
        account = (await self._visibility.get_account(viewer, AccountId(object_id))).account
        evidence = {"username": account.username, "full_name": account.full_name, "text": account.bio}
        return ObjectSnapshot(account.id, evidence)

    async def apply_state(self, case: Case, state: ObjectState, by: AccountId) -> None:  # noqa: ARG002 - the log knows who
        """Suspend the account, or lift its suspension; an account that is being erased stays as it is."""
        change = self._accounts.suspend if state == "suspended" else self._accounts.lift_suspension
        with contextlib.suppress(AccountGone):
            await change(AccountId(case.object_id))


class ReportablePosts:
    """Posts: hidden, restored and deleted for everybody."""

    def __init__(self, posts: Posts) -> None:
        self._posts = posts

    async def get_snapshot(self, object_id: int, viewer: AccountId) -> ObjectSnapshot:
        """The author of a reported post, its caption and the folders of its media."""
        post = await self._posts.get(PostId(object_id), viewer=viewer)
        folders = [item.folder for item in post.media]
        return ObjectSnapshot(post.author_id, {"text": post.caption[:LONGEST_EVIDENCE], "folders": folders})

    async def apply_state(self, case: Case, state: ObjectState, by: AccountId) -> None:
        """Hide, restore or delete the post."""
        post_id = PostId(case.object_id)
        if state == "deleted":
            await self._posts.remove(post_id, by)
        else:
            await (self._posts.hide if state == "hidden" else self._posts.restore)(post_id, by)


class ReportableComments:
    """Comments: hidden, restored and deleted for everybody."""

    def __init__(self, comments: Comments) -> None:
        self._comments = comments

    async def get_snapshot(self, object_id: int, viewer: AccountId) -> ObjectSnapshot:
        """The author of a reported comment, its text and its post."""
        comment = (await self._comments.get(CommentId(object_id), viewer=viewer)).comment
        evidence = {"text": comment.text[:LONGEST_EVIDENCE], "post_id": str(comment.post_id)}
        return ObjectSnapshot(comment.account_id, evidence)

    async def apply_state(self, case: Case, state: ObjectState, by: AccountId) -> None:  # noqa: ARG002 - the log knows who
        """Hide or restore the comment, or delete it in its author's name."""
        comment_id = CommentId(case.object_id)
        if state == "deleted":
            await self._comments.delete(comment_id, case.owner_id)
        else:
            await (self._comments.hide if state == "hidden" else self._comments.restore)(comment_id)


class ReportableStories:
    """Stories while they are live, and their copies in highlights after that."""

    def __init__(self, stories: Stories) -> None:
        self._stories = stories

    async def get_snapshot(self, object_id: int, viewer: AccountId) -> ObjectSnapshot:
        """The text and the folder of the media."""
        author_id, text, folder = await self._stories.inspect(StoryId(object_id), viewer=viewer)
        return ObjectSnapshot(author_id, {"text": text[:LONGEST_EVIDENCE], "folders": [folder]})

    async def apply_state(self, case: Case, state: ObjectState, by: AccountId) -> None:  # noqa: ARG002 - the log knows who
        """Hide, restore or delete the story together with its copies."""
        story_id = StoryId(case.object_id)
        if state == "deleted":
            await self._stories.delete_with_copies(story_id)
        else:
            await (self._stories.hide if state == "hidden" else self._stories.restore)(story_id)


class ReportableMessages:
    """Direct messages: deleted for everybody, and never shown to moderators beyond what was reported."""

    def __init__(self, direct: Direct) -> None:
        self._direct = direct

    async def get_snapshot(self, object_id: int, viewer: AccountId) -> ObjectSnapshot:
        """The text and the folder of the media of a message that the viewer may read."""
        return _snapshot(await self._direct.inspect_message(MessageId(object_id), viewer))

    async def apply_state(self, case: Case, state: ObjectState, by: AccountId) -> None:  # noqa: ARG002 - the log knows who
        """Delete the message."""
        if state == "deleted":
            await self._direct.remove_message(MessageId(case.object_id))


class ReportableThreads:
    """Conversations: a report concerns the other of a pair, or an admin of a group, and what they wrote last."""

    def __init__(self, direct: Direct) -> None:
        self._direct = direct

    async def get_snapshot(self, object_id: int, viewer: AccountId) -> ObjectSnapshot:
        """What they wrote last in a conversation that the viewer is in."""
        return _snapshot(await self._direct.inspect_thread(ThreadId(object_id), viewer))

    async def apply_state(self, case: Case, state: ObjectState, by: AccountId) -> None:
        """Do nothing: moderators warn people, and leave conversations to those who are in them."""


def _snapshot(evidence: Evidence) -> ObjectSnapshot:
    shown = {
        "text": evidence.text[:LONGEST_EVIDENCE],
        "folders": evidence.folders,
        "voices": evidence.voices,
        **({"is_encrypted": True} if evidence.is_encrypted else {}),
    }
    return ObjectSnapshot(evidence.owner_id, shown, tuple(evidence.media_ids))


class ReportableObjects:
    """Every kind of object that can be reported."""

    def __init__(self, kinds: dict[ObjectKind, Reportable]) -> None:
        self._kinds = kinds

    async def get_snapshot(self, kind: ObjectKind, object_id: int, viewer: AccountId) -> ObjectSnapshot:
        """An object as the viewer may see it; what may not be seen is refused like what does not exist."""
        try:
            return await self._kinds[kind].get_snapshot(object_id, viewer)
        except NotFound as error:
            raise ObjectNotFound from error

    async def apply_state(self, case: Case, by: AccountId) -> None:
        """Bring the object into the state that its case says; an object that no longer exists is skipped."""
        try:
            await self._kinds[case.kind].apply_state(case, case.object_state, by)
        except NotFound:
            return
