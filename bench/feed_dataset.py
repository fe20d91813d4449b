"""Dataset of `bench feed`: each reader follows a hundred authors, of whom ten are celebrities followed by everybody."""

import random
from dataclasses import dataclass, field

from argon2 import PasswordHasher

from bench.social_sites import add_picture
from shardwright.routing import Queries
from tintype.base.ids import AccountId, PostId
from tintype.wiring import Rooms

CELEBRITIES, FOLLOWED, AUTHORS = 10, 100, 150
CAPTION = "A post about nothing in particular, as most of them are, with a #tag or two at its #end"
LIKED, SAVED = 40, 10
QUERIES = Queries.parse("""
-- name: add_following
INSERT INTO following (account_id, followee_id, change_id)
SELECT :account_id::bigint, followee.id, next_id() FROM unnest(:others::bigint[]) AS followee (id);
-- name: add_followers
INSERT INTO followers (account_id, follower_id, change_id, is_active)
SELECT :account_id::bigint, follower.id, next_id(), true FROM unnest(:others::bigint[]) AS follower (id);
-- name: set_counts
UPDATE accounts SET follower_count = :followers, following_count = :following WHERE id = :account_id;
-- name: add_celebrity
INSERT INTO feed_stars (account_id, is_settled) VALUES (:account_id, true);
-- name: add_likes
INSERT INTO own_likes (account_id, post_id, change_id, is_active)
SELECT :account_id::bigint, post.id, next_id(), true FROM unnest(:posts::bigint[]) AS post (id);
-- name: add_saves
INSERT INTO saves (account_id, post_id) SELECT :account_id::bigint, post.id FROM unnest(:posts::bigint[]) AS post (id);
-- name: set_likes
UPDATE posts SET like_count = 7;
""")


@dataclass(frozen=True)
class Dataset:
    """Accounts, follows, posts, likes and saves, by number; the first authors are the celebrities."""

    readers: int
    follows: list[list[int]]
    posts: list[int]
    """The author of each post, oldest first."""
    likes: list[list[int]]
    saves: list[list[int]]
    authors: int = AUTHORS
    caption: str = CAPTION


@dataclass(frozen=True)
class SeededDataset:
    """Accounts of our installation that hold the dataset's readers."""

    readers: list[AccountId] = field(default_factory=list[AccountId])
    tokens: list[str] = field(default_factory=list[str])


def plan_dataset(readers: int, posts_each: int) -> Dataset:
    """Generate the dataset; it is the same each time."""
    chance = random.Random(6)
    others = AUTHORS - CELEBRITIES
    follows = [
        [
            *range(CELEBRITIES),
            *(CELEBRITIES + (number * 7 + each) % others for each in range(FOLLOWED - CELEBRITIES)),
        ]
        for number in range(readers)
    ]
    posts = [author for author in range(AUTHORS) for _ in range(posts_each)]
    chance.shuffle(posts)
    newest = range(len(posts) // 2, len(posts))
    return Dataset(
        readers,
        follows,
        posts,
        [chance.sample(newest, LIKED) for _ in range(readers)],
        [chance.sample(newest, SAVED) for _ in range(readers)],
    )


async def seed_dataset(rooms: Rooms, dataset: Dataset) -> SeededDataset:
    """Create accounts and posts through the rooms; follows, likes and saves are written straight to the tables."""
    rooms.accounts.use_hasher(PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))
    authors = [(await _join(rooms, number))[0] for number in range(dataset.authors)]
    seeded = SeededDataset()
    for number in range(dataset.readers):
        reader, token = await _join(rooms, dataset.authors + number)
        seeded.readers.append(reader)
        seeded.tokens.append(token)
    await _follow(rooms, dataset, authors, seeded.readers)
    posts: list[PostId] = []
    for each in dataset.posts:
        author = authors[each]
        picture = await add_picture(rooms, author)
        posts.append(await rooms.posts.publish(author, [picture], caption=dataset.caption))
    for number, reader in enumerate(seeded.readers):
        shard = rooms.shards.owner(reader)
        await shard.execute(
            QUERIES.add_likes, account_id=reader, posts=[posts[each] for each in dataset.likes[number]]
        )
        await shard.execute(
            QUERIES.add_saves, account_id=reader, posts=[posts[each] for each in dataset.saves[number]]
        )
    (await rooms.shards.everywhere().execute(QUERIES.set_likes)).complete()
    await rooms.redis.flushdb()
    return seeded


async def _join(rooms: Rooms, number: int) -> tuple[AccountId, str]:
    made = await rooms.accounts.sign_up(f"person{number}", "a sentence for the bench")
    return made.account.id, made.token


async def _follow(rooms: Rooms, dataset: Dataset, authors: list[AccountId], readers: list[AccountId]) -> None:
    followers: dict[int, list[AccountId]] = {number: [] for number in range(dataset.authors)}
    for reader, followed in zip(readers, dataset.follows, strict=True):
        shard = rooms.shards.owner(reader)
        await shard.execute(
            QUERIES.add_following, account_id=reader, others=[authors[each] for each in followed]
        )
        await shard.execute(QUERIES.set_counts, account_id=reader, followers=0, following=len(followed))
        for each in followed:
            followers[each].append(reader)
    for number, author in enumerate(authors):
        shard = rooms.shards.owner(author)
        await shard.execute(QUERIES.add_followers, account_id=author, others=followers[number])
        await shard.execute(
            QUERIES.set_counts, account_id=author, followers=len(followers[number]), following=0
        )
        if number < CELEBRITIES:
            await shard.execute(QUERIES.add_celebrity, account_id=author)
