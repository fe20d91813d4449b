"""What can be reported, and how each kind is looked at and taken out of sight: one small class per kind.

The rooms that own the objects decide who may see them and do the hiding; a new kind needs a class here and its name
in `kinds`.
"""

from typing import Any, Protocol

from tintype.accounts import Accounts
from tintype.base.errors import NotFound
from tintype.base.ids import AccountId, CommentId, PostId
from tintype.graph import Sight
from tintype.moderation.errors import ObjectNotFound
from tintype.moderation.kinds import ObjectKind, ObjectState
from tintype.moderation.models import Case, Look
from tintype.posts import Post
from tintype.stories import Stories, StoryId

LONGEST_EVIDENCE = 2_200


class PostsDoor(Protocol):
    """What moderation needs of posts."""

    async def get(self, post_id: PostId, *, viewer: AccountId | None) -> Post: ...  # noqa: D102 - as in posts
    async def hide(self, post_id: PostId, by: AccountId) -> None: ...  # noqa: D102
    async def restore(self, post_id: PostId, by: AccountId) -> None: ...  # noqa: D102
    async def remove(self, post_id: PostId, by: AccountId) -> None: ...  # noqa: D102


class CommentsDoor(Protocol):
    """What moderation needs of comments."""

    async def get(self, comment_id: CommentId, *, viewer: AccountId | None) -> Any: ...  # noqa: D102 - as in comments
    async def hide(self, comment_id: CommentId) -> None: ...  # noqa: D102
    async def restore(self, comment_id: CommentId) -> None: ...  # noqa: D102
    async def delete(self, comment_id: CommentId, by: AccountId) -> None: ...  # noqa: D102


class Reportable(Protocol):
    """One kind of object."""

    async def look(self, object_id: int, viewer: AccountId) -> Look:
        """The object as the viewer may see it, or a refusal."""
        ...

    async def bring(self, case: Case, state: ObjectState, by: AccountId) -> None:
        """Make it so; it may be so already."""
        ...


class ReportableAccounts:
    """Accounts: suspending one ends every session of it at once."""

    def __init__(self, sight: Sight, accounts: Accounts) -> None:
        self._sight, self._accounts = sight, accounts

    async def look(self, object_id: int, viewer: AccountId) -> Look:
        """The profile."""
        account = (await self._sight.get(viewer, AccountId(object_id))).account
        evidence = {"username": account.username, "full_name": account.full_name, "text": account.bio}
        return Look(account.id, evidence)

    async def bring(self, case: Case, state: ObjectState, by: AccountId) -> None:  # noqa: ARG002 - the log knows who
        """Suspend, or lift a suspension; what somebody chose for themselves in the meantime stays."""
        account_id = AccountId(case.object_id)
        now = (await self._accounts.get(account_id)).status
        if state == "suspended" and now in {"active", "deactivated"}:
            await self._accounts.set_status(account_id, "suspended")
        elif state == "visible" and now == "suspended":
            await self._accounts.set_status(account_id, "active")


class ReportablePosts:
    """Posts."""

    def __init__(self, posts: PostsDoor) -> None:
        self._posts = posts

    async def look(self, object_id: int, viewer: AccountId) -> Look:
        """The caption and where the pictures are."""
        post = await self._posts.get(PostId(object_id), viewer=viewer)
        folders = [item.folder for item in post.media]
        return Look(post.author_id, {"text": post.caption[:LONGEST_EVIDENCE], "folders": folders})

    async def bring(self, case: Case, state: ObjectState, by: AccountId) -> None:
        """Hide, show again or delete."""
        verb = {"hidden": self._posts.hide, "visible": self._posts.restore, "deleted": self._posts.remove}
        await verb[state](PostId(case.object_id), by)


class ReportableComments:
    """Comments."""

    def __init__(self, comments: CommentsDoor) -> None:
        self._comments = comments

    async def look(self, object_id: int, viewer: AccountId) -> Look:
        """The words."""
        comment = (await self._comments.get(CommentId(object_id), viewer=viewer)).comment
        evidence = {"text": comment.text[:LONGEST_EVIDENCE], "post_id": str(comment.post_id)}
        return Look(comment.account_id, evidence)

    async def bring(self, case: Case, state: ObjectState, by: AccountId) -> None:  # noqa: ARG002 - the log knows who
        """Hide, show again, or delete as its author would."""
        comment_id = CommentId(case.object_id)
        if state == "deleted":
            await self._comments.delete(comment_id, case.owner_id)
        else:
            await (self._comments.hide if state == "hidden" else self._comments.restore)(comment_id)


class ReportableStories:
    """Stories while they live, and their copies in highlights after that."""

    def __init__(self, stories: Stories) -> None:
        self._stories = stories

    async def look(self, object_id: int, viewer: AccountId) -> Look:
        """The words and where the picture is."""
        author_id, text, folder = await self._stories.look(StoryId(object_id), viewer=viewer)
        return Look(author_id, {"text": text[:LONGEST_EVIDENCE], "folders": [folder]})

    async def bring(self, case: Case, state: ObjectState, by: AccountId) -> None:  # noqa: ARG002 - the log knows who
        """Hide, show again or delete, the story and its copies alike."""
        verb = {"hidden": self._stories.hide, "visible": self._stories.restore, "deleted": self._stories.drop}
        await verb[state](StoryId(case.object_id))


class Objects:
    """All kinds together."""

    def __init__(self, kinds: dict[ObjectKind, Reportable]) -> None:
        self._kinds = kinds

    async def look(self, kind: ObjectKind, object_id: int, viewer: AccountId) -> Look:
        """An object as the viewer may see it; what may not be seen does not exist."""
        try:
            return await self._kinds[kind].look(object_id, viewer)
        except NotFound as error:
            raise ObjectNotFound from error

    async def bring(self, case: Case, by: AccountId) -> None:
        """Make true what the case says; an object that is gone needs nothing."""
        try:
            await self._kinds[case.kind].bring(case, case.object_state, by)
        except NotFound:
            return
