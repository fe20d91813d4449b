"""People tagged in posts: who may be tagged, and the index of the posts each person is tagged in.

Tags lie with the post. The index (`tagged_in`) lies on the tagged person's own shard; it is written right after the
commit, and again by the handlers of the events. The newest change wins, in whatever order changes arrive.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from shardwright.routing import Transaction
from tintype.base.ids import AccountId, PostId, has_shard
from tintype.base.log import get_log
from tintype.graph import STRANGER, VisibleAccount
from tintype.posts.dependencies import PostsDependencies
from tintype.posts.errors import PostNotFound, TaggedUserBlockedYou, TaggedUserNotFound
from tintype.posts.events import PostEdited
from tintype.posts.models import PersonTag
from tintype.posts.post_cache import PostCache
from tintype.posts.store import QUERIES, SHARD_UNAVAILABLE

log = get_log("posts")


@dataclass(frozen=True)
class TagChanges:
    """The people whom a change of a post has tagged, and those it has untagged."""

    added: Sequence[AccountId] = ()
    removed: Sequence[AccountId] = ()


class PersonTags:
    """Tags of people and the index of each person's tags."""

    def __init__(self, dependencies: PostsDependencies, cache: PostCache) -> None:
        self._shards, self._outbox, self._cache = dependencies.shards, dependencies.outbox, cache
        self._accounts, self._graph = dependencies.accounts, dependencies.graph

    async def check_taggable(self, author: AccountId, people: Iterable[AccountId]) -> None:
        """Refuse to tag people who do not exist, who blocked the author, or whose posts the author may not see."""
        wanted = set(people)
        if not wanted:
            return
        accounts = await self._accounts.find_many(wanted)
        relations = await self._graph.relations(author, accounts)
        for each in wanted:
            account, relation = accounts.get(each), relations.get(each, STRANGER)
            if account is not None and account.is_active and relation.is_blocked:
                raise TaggedUserBlockedYou
            if account is None or not VisibleAccount(account, relation).shows_content:
                raise TaggedUserNotFound

    async def which_taggable(self, author: AccountId, people: Iterable[AccountId]) -> set[AccountId]:
        """Those of the people whom the author may tag now."""
        wanted = set(people)
        accounts = await self._accounts.find_many(wanted) if wanted else {}
        relations = await self._graph.relations(author, accounts) if accounts else {}
        return {
            each
            for each, account in accounts.items()
            if VisibleAccount(account, relations.get(each, STRANGER)).shows_content
        }

    async def remove(self, post_id: PostId, account_id: AccountId) -> None:
        """Remove all tags of one person from a post, whoever may see it; nothing happens where there are none."""
        if not has_shard(self._shards, post_id):
            raise PostNotFound
        async with self._shards.owner(post_id).begin() as tx:
            post = await tx.fetch_one(QUERIES.lock_post, post_id=post_id)
            people = await list_tagged(tx, post_id)
            if post is None or not await tx.fetch(QUERIES.untag, post_id=post_id, account_id=account_id):
                return
            change_id = await tx.fetch_value(QUERIES.draw_change_id)
            event = PostEdited(
                post_id,
                AccountId(post["author_id"]),
                change_id,
                tuple(post["hashtags"]),
                tuple(AccountId(each) for each in post["mention_ids"]),
                tuple(each for each in people if each != account_id),
                post["place_id"],
                (account_id,),
            )
            await self._outbox.add(tx, event)
        await self._cache.invalidate(post_id)
        await self.try_index(post_id, change_id, TagChanges(removed=(account_id,)))

    async def index(self, post_id: PostId, change_id: int, changes: TagChanges) -> None:
        """Write to each person's shard whether they are tagged in the post; idempotent, and order does not matter."""
        is_tagged = {**dict.fromkeys(changes.removed, False), **dict.fromkeys(changes.added, True)}
        for account_id, is_active in is_tagged.items():
            await self._shards.owner(account_id).execute(
                QUERIES.index_tag,
                account_id=account_id,
                post_id=post_id,
                change_id=change_id,
                is_active=is_active,
            )

    async def try_index(self, post_id: PostId, change_id: int, changes: TagChanges) -> None:
        """`index`, before the answer goes out; where a shard is unavailable, the handler of the event repeats it."""
        try:
            await self.index(post_id, change_id, changes)
        except SHARD_UNAVAILABLE as error:
            log.warning("tags.postponed", post_id=post_id, error=str(error))


async def list_tagged(tx: Transaction, post_id: PostId) -> tuple[AccountId, ...]:
    """Everybody tagged in a post that this transaction has locked."""
    rows = await tx.fetch(QUERIES.list_tagged, post_id=post_id)
    return tuple(AccountId(row["account_id"]) for row in rows)


async def add_tags(tx: Transaction, post_id: PostId, tags: Sequence[tuple[int, PersonTag]]) -> None:
    """Tag people in the photos at these positions of a post."""
    if tags:
        await tx.execute(QUERIES.add_tags, post_id=post_id, **tag_columns(tags))


def tag_columns(tags: Sequence[tuple[int, PersonTag]]) -> dict[str, object]:
    """Tags as parameters of the queries that add them."""
    return {
        "positions": [position for position, _ in tags],
        "account_ids": [each.account_id for _, each in tags],
        "xs": [each.x for _, each in tags],
        "ys": [each.y for _, each in tags],
    }
