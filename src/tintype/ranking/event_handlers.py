"""Event handlers: what people do with posts, as the other rooms announce it, becomes features and training examples."""

from collections.abc import Iterable

from tintype.accounts import Account, Accounts
from tintype.base.ids import AccountId, PostId
from tintype.base.jobs import Handler, on
from tintype.comments import CommentAdded, CommentRemoved
from tintype.posts import Post, PostEdited, PostLiked, PostPublished, PostPurged, PostRemoved, Posts
from tintype.ranking.feature_store import PostFeatureStore, facts_of
from tintype.ranking.feature_writer import FeatureWriter
from tintype.ranking.models import Interaction, PostFacts
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

    async def record(self, *interactions: Interaction) -> None:
        """Count interactions, with the hashtags of their posts, and add them to the viewers' training examples."""
        known = await self._accounts.find_many({each.viewer_id for each in interactions})
        counted = [
            each
            for each in interactions
            if each.viewer_id != each.author_id and _exists(known.get(each.viewer_id))
        ]
        if not counted:
            return
        posts = list({each.post_id for each in counted if each.post_id is not None})
        rows: list[list[int]] = (await self._feature_store.get_rows(posts)).tags.T.tolist() if posts else []
        tags: dict[PostId | None, list[int]] = dict(zip(posts, rows, strict=True))
        await self._writer.record_all((each, tags.get(each.post_id, [])) for each in counted)
        for each in counted:
            await self._examples.record_outcome(each)

    async def handle_liked(self, events: list[PostLiked]) -> None:
        """Record likes and unlikes."""
        await self.record(
            *(
                Interaction(
                    viewer_id=event.account_id,
                    kind="like",
                    object_id=event.post_id,
                    change_id=event.change_id,
                    author_id=event.author_id,
                    post_id=event.post_id,
                    is_on=event.is_liked,
                )
                for event in events
            )
        )

    async def handle_saved(self, events: list[PostSaved]) -> None:
        """Record saves and their undoing; not of posts that are gone by now."""
        authors = (await self._feature_store.get_rows([each.post_id for each in events])).author.tolist()
        await self.record(
            *(
                Interaction(
                    viewer_id=event.account_id,
                    kind="save",
                    object_id=event.post_id,
                    change_id=event.change_id,
                    author_id=AccountId(author),
                    post_id=event.post_id,
                    is_on=event.is_saved,
                )
                for event, author in zip(events, authors, strict=True)
                if author
            )
        )

    async def handle_commented(self, events: list[CommentAdded]) -> None:
        """Record new comments; not those that became visible again."""
        await self.record(
            *(
                Interaction(
                    viewer_id=event.account_id,
                    kind="comment",
                    object_id=event.comment_id,
                    change_id=event.comment_id,
                    author_id=event.post_author_id,
                    post_id=event.post_id,
                )
                for event in events
                if event.is_new
            )
        )

    async def handle_comment_removed(self, event: CommentRemoved) -> None:
        """Undo a deleted comment in the features, even if it was not recorded yet. Training examples keep it."""
        row = await self._feature_store.get_rows([event.post_id])
        author = int(row.author[0])
        if event.is_deleted and author and await self._is_known(event.account_id):
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

    async def handle_published(self, events: list[PostPublished]) -> None:
        """Update the authors' cadence, write the posts' features, and add them to the popular posts."""
        known = await self._accounts.find_many({each.author_id for each in events})
        new = [each for each in events if each.is_new and _exists(known.get(each.author_id))]
        if new:
            await self._writer.record_posts((each.author_id, each.post_id) for each in new)
            await self._popular.add(*(each.post_id for each in new))
        described = [each for each in events if each.is_new and each.media_count]
        await self._write_described(described)
        rest = {each.post_id for each in events} - {each.post_id for each in described}
        if rest:
            await self._write_features(rest)

    async def handle_edited(self, event: PostEdited) -> None:
        """Write the post's features again."""
        await self._feature_store.mark_changed(event.post_id)
        await self._write_features({event.post_id})

    async def handle_removed(self, event: PostRemoved | PostPurged) -> None:
        """Delete the features of a post that is no longer shown; they are computed again if it returns."""
        await self._feature_store.mark_changed(event.post_id)
        await self._feature_store.delete(event.post_id)

    def handlers(self) -> list[Handler]:
        """The event handlers of ranking."""
        return [
            on(PostLiked, self.handle_liked, name="ranking-liked", many=True),
            on(PostSaved, self.handle_saved, name="ranking-saved", many=True),
            on(CommentAdded, self.handle_commented, name="ranking-commented", many=True),
            on(CommentRemoved, self.handle_comment_removed, name="ranking-comment-removed"),
            on(PostPublished, self.handle_published, name="ranking-published", many=True),
            on(PostEdited, self.handle_edited, name="ranking-edited"),
            on(PostRemoved, self.handle_removed, name="ranking-removed"),
            on(PostPurged, self.handle_removed, name="ranking-purged"),
        ]

    async def _write_described(self, events: list[PostPublished]) -> None:
        """Write the features of new posts from what their events say; posts changed since are read themselves."""
        if not events:
            return
        await self._feature_store.write([_facts_of_new(each) for each in events])
        changed = await self._feature_store.find_changed([each.post_id for each in events])
        if changed:
            await self._write_features(set(changed))

    async def _write_features(self, ids: set[PostId]) -> None:
        """Write the features of posts that are shown, and delete those of posts removed while they are written."""
        shown = await self._find_shown(ids)
        if shown:
            await self._feature_store.write([facts_of(post) for post in shown.values()])
        for post_id in ids - (await self._find_shown(shown)).keys():
            await self._feature_store.delete(post_id)

    async def _find_shown(self, ids: Iterable[PostId]) -> dict[PostId, Post]:
        found = await self._posts.find_unfiltered(ids)
        return {each: post for each, post in found.items() if post.is_shown}

    async def _is_known(self, account_id: AccountId) -> bool:
        return _exists((await self._accounts.find_many([account_id])).get(account_id))


def _facts_of_new(event: PostPublished) -> PostFacts:
    return PostFacts(
        id=event.post_id,
        author_id=event.author_id,
        hashtags=event.hashtags,
        is_video=event.has_video,
        is_album=event.media_count > 1,
    )


def _exists(account: Account | None) -> bool:
    return account is not None and account.status != "gone"
