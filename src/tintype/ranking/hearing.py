"""The listening side: what people do with posts, as the other rooms announce it, becomes features and outcomes."""

from tintype.accounts import Accounts
from tintype.base.ids import AccountId, PostId
from tintype.base.jobs import Handler, on
from tintype.comments import CommentAdded, CommentRemoved
from tintype.posts import Post, PostEdited, PostLiked, PostPublished, PostPurged, PostRemoved, Posts
from tintype.ranking.examples import Examples
from tintype.ranking.facts import Facts
from tintype.ranking.models import Act
from tintype.ranking.notes import Notes
from tintype.ranking.popular import Popular
from tintype.saves import PostSaved


class Hearing:
    """Hears of acts; safe to repeat and to reorder, and deaf to who has left."""

    def __init__(
        self,
        accounts: Accounts,
        posts: Posts,
        notes: Notes,
        facts: Facts,
        *,
        popular: Popular,
        examples: Examples,
    ) -> None:
        self._accounts, self._posts, self._popular = accounts, posts, popular
        self._notes, self._facts, self._examples = notes, facts, examples

    async def hear(self, act: Act) -> None:
        """Count an act, with the hashtags of its post, and join it to what its doer was shown."""
        if act.viewer_id == act.author_id or not await self._is_there(act.viewer_id):
            return
        tags: list[int] = []
        if act.post_id is not None:
            tags = (await self._facts.of([act.post_id])).tags[:, 0].tolist()
        await self._notes.act(act, tags)
        await self._examples.join(act)

    async def on_liked(self, event: PostLiked) -> None:
        """A like, or its end."""
        await self.hear(
            Act(
                viewer_id=event.account_id,
                kind="like",
                object_id=event.post_id,
                change_id=event.change_id,
                author_id=event.author_id,
                post_id=event.post_id,
                is_on=event.is_liked,
            )
        )

    async def on_saved(self, event: PostSaved) -> None:
        """A save, or its end; of a post that is gone by now nothing need be known."""
        author = int((await self._facts.of([event.post_id])).author[0])
        if author:
            await self.hear(
                Act(
                    viewer_id=event.account_id,
                    kind="save",
                    object_id=event.post_id,
                    change_id=event.change_id,
                    author_id=AccountId(author),
                    post_id=event.post_id,
                    is_on=event.is_saved,
                )
            )

    async def on_commented(self, event: CommentAdded) -> None:
        """A comment that is new."""
        if event.is_new:
            await self.hear(
                Act(
                    viewer_id=event.account_id,
                    kind="comment",
                    object_id=event.comment_id,
                    change_id=event.comment_id,
                    author_id=event.post_author_id,
                    post_id=event.post_id,
                )
            )

    async def on_comment_removed(self, event: CommentRemoved) -> None:
        """A comment that is deleted counts no more, also when this is heard first. That somebody commented stays."""
        known = await self._facts.of([event.post_id])
        author = int(known.author[0])
        if event.is_deleted and author and await self._is_there(event.account_id):
            undone = Act(
                viewer_id=event.account_id,
                kind="comment",
                object_id=event.comment_id,
                change_id=event.comment_id + 1,
                author_id=AccountId(author),
                post_id=event.post_id,
                is_on=False,
            )
            await self._notes.act(undone, known.tags[:, 0].tolist())

    async def on_published(self, event: PostPublished) -> None:
        """The author's pace, the facts of the post, and its place among the popular ones."""
        if event.is_new and await self._is_there(event.author_id):
            await self._notes.publish(event.author_id, event.post_id)
            await self._popular.add(event.post_id)
        await self._write(event)

    async def on_edited(self, event: PostEdited) -> None:
        """The facts as they are now."""
        await self._write(event)

    async def on_gone(self, event: PostRemoved | PostPurged) -> None:
        """Nothing is kept of a post that is out of sight; if it comes back, so does what can be known of it."""
        await self._facts.drop(event.post_id)

    def handlers(self) -> list[Handler]:
        """What is listened to."""
        return [
            on(PostLiked, self.on_liked, name="ranking-liked"),
            on(PostSaved, self.on_saved, name="ranking-saved"),
            on(CommentAdded, self.on_commented, name="ranking-commented"),
            on(CommentRemoved, self.on_comment_removed, name="ranking-comment-removed"),
            on(PostPublished, self.on_published, name="ranking-published"),
            on(PostEdited, self.on_edited, name="ranking-edited"),
            on(PostRemoved, self.on_gone, name="ranking-removed"),
            on(PostPurged, self.on_gone, name="ranking-purged"),
        ]

    async def _write(self, event: PostPublished | PostEdited) -> None:
        """The facts of a post that is shown, also if it goes out of sight while we write them."""
        found = await self._shown(event.post_id)
        if found is not None:
            await self._facts.write([found])
        if found is None or await self._shown(event.post_id) is None:
            await self._facts.drop(event.post_id)

    async def _shown(self, post_id: PostId) -> Post | None:
        found = (await self._posts.find_any([post_id])).get(post_id)
        return found if found is not None and found.is_shown else None

    async def _is_there(self, account_id: AccountId) -> bool:
        account = (await self._accounts.find_many([account_id])).get(account_id)
        return account is not None and account.status != "gone"
