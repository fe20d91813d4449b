"""Event handlers: what people do with posts, as the other rooms announce it, becomes features and training examples."""

from tintype.accounts import Accounts
from tintype.base.ids import AccountId, PostId
from tintype.base.jobs import Handler, on
from tintype.comments import CommentAdded, CommentRemoved
from tintype.posts import Post, PostEdited, PostLiked, PostPublished, PostPurged, PostRemoved, Posts
from tintype.ranking.feature_store import PostFeatureStore
from tintype.ranking.feature_writer import FeatureWriter
from tintype.ranking.models import Interaction
from tintype.ranking.popular_posts import PopularPosts
from tintype.ranking.training_examples import TrainingExamples
from tintype.saves import PostSaved


class RankingEventHandlers:
    """Records interactions, in any order and any number of times; those of erased accounts are ignored."""

    def __init__(
        self,
        accounts: Accounts,
        posts: Posts,
        writer: FeatureWriter,
        feature_store: PostFeatureStore,
        *,
        popular: PopularPosts,
        examples: TrainingExamples,
    ) -> None:
        self._accounts, self._posts, self._popular = accounts, posts, popular
        self._writer, self._feature_store, self._examples = writer, feature_store, examples

    async def record(self, interaction: Interaction) -> None:
        """Count an interaction, with the hashtags of its post, and add it to the viewer's training example."""
        is_own = interaction.viewer_id == interaction.author_id
        if is_own or not await self._exists(interaction.viewer_id):
            return
        tags: list[int] = []
        if interaction.post_id is not None:
            tags = (await self._feature_store.get_rows([interaction.post_id])).tags[:, 0].tolist()
        await self._writer.record(interaction, tags)
        await self._examples.record_outcome(interaction)

    async def handle_liked(self, event: PostLiked) -> None:
        """Record a like or an unlike."""
        await self.record(
            Interaction(
                viewer_id=event.account_id,
                kind="like",
                object_id=event.post_id,
                change_id=event.change_id,
                author_id=event.author_id,
                post_id=event.post_id,
                is_on=event.is_liked,
            )
        )

    async def handle_saved(self, event: PostSaved) -> None:
        """Record a save or its undoing; not of a post that is gone by now."""
        author = int((await self._feature_store.get_rows([event.post_id])).author[0])
        if author:
            await self.record(
                Interaction(
                    viewer_id=event.account_id,
                    kind="save",
                    object_id=event.post_id,
                    change_id=event.change_id,
                    author_id=AccountId(author),
                    post_id=event.post_id,
                    is_on=event.is_saved,
                )
            )

    async def handle_commented(self, event: CommentAdded) -> None:
        """Record a new comment; not one that became visible again."""
        if event.is_new:
            await self.record(
                Interaction(
                    viewer_id=event.account_id,
                    kind="comment",
                    object_id=event.comment_id,
                    change_id=event.comment_id,
                    author_id=event.post_author_id,
                    post_id=event.post_id,
                )
            )

    async def handle_comment_removed(self, event: CommentRemoved) -> None:
        """Undo a deleted comment in the features, even if it was not recorded yet. Training examples keep it."""
        row = await self._feature_store.get_rows([event.post_id])
        author = int(row.author[0])
        if event.is_deleted and author and await self._exists(event.account_id):
            undone = Interaction(
                viewer_id=event.account_id,
                kind="comment",
                object_id=event.comment_id,
                change_id=event.comment_id + 1,
                author_id=AccountId(author),
                post_id=event.post_id,
                is_on=False,
            )
            await self._writer.record(undone, row.tags[:, 0].tolist())

    async def handle_published(self, event: PostPublished) -> None:
        """Update the author's cadence, write the post's features, and add it to the popular posts."""
        if event.is_new and await self._exists(event.author_id):
            await self._writer.record_post(event.author_id, event.post_id)
            await self._popular.add(event.post_id)
        await self._write_features(event)

    async def handle_edited(self, event: PostEdited) -> None:
        """Write the post's features again."""
        await self._write_features(event)

    async def handle_removed(self, event: PostRemoved | PostPurged) -> None:
        """Delete the features of a post that is no longer shown; they are computed again if it returns."""
        await self._feature_store.delete(event.post_id)

    def handlers(self) -> list[Handler]:
        """The event handlers of ranking."""
        return [
            on(PostLiked, self.handle_liked, name="ranking-liked"),
            on(PostSaved, self.handle_saved, name="ranking-saved"),
            on(CommentAdded, self.handle_commented, name="ranking-commented"),
            on(CommentRemoved, self.handle_comment_removed, name="ranking-comment-removed"),
            on(PostPublished, self.handle_published, name="ranking-published"),
            on(PostEdited, self.handle_edited, name="ranking-edited"),
            on(PostRemoved, self.handle_removed, name="ranking-removed"),
            on(PostPurged, self.handle_removed, name="ranking-purged"),
        ]

    async def _write_features(self, event: PostPublished | PostEdited) -> None:
        """Write the features of a post that is shown, and delete them if it is removed while they are written."""
        found = await self._find_shown(event.post_id)
        if found is not None:
            await self._feature_store.write([found])
        if found is None or await self._find_shown(event.post_id) is None:
            await self._feature_store.delete(event.post_id)

    async def _find_shown(self, post_id: PostId) -> Post | None:
        found = (await self._posts.find_unfiltered([post_id])).get(post_id)
        return found if found is not None and found.is_shown else None

    async def _exists(self, account_id: AccountId) -> bool:
        account = (await self._accounts.find_many([account_id])).get(account_id)
        return account is not None and account.status != "gone"
