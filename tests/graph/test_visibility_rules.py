"""The visibility rules over every combination of facts, and the queries that apply them."""

from collections.abc import Iterator
from itertools import count, product
from typing import Any

import pytest

from shardwright.routing import Queries, Transaction
from tintype import accounts, comments, feed, graph, posts, search, stories
from tintype.base.ids import AccountId
from tintype.graph import visibility_rules as rules
from tintype.search.topics import is_public_post
from tintype.stories.store import is_visible
from tintype.wiring import Rooms

T, F = True, False
ANY = None
Pattern = tuple[tuple[bool | None, ...], bool]
STATUSES = ("active", "deactivated", "suspended", "leaving", "gone")
MEDIA_STATES = ("processing", "ready", "failed", "lost", "deleted")
PLAYABLE = {"processing", "ready"}
BOTH = (False, True)

TABLES: dict[str, tuple[tuple[str, ...], list[Pattern]]] = {
    "may_see_account": (
        ("is_self", "is_active", "has_block"),
        [((T, ANY, ANY), T), ((F, F, ANY), F), ((F, T, T), F), ((F, T, F), T)],
    ),
    "may_see_content": (
        ("is_self", "is_active", "has_block", "is_private", "follows"),
        [
            ((T, ANY, ANY, ANY, ANY), T),
            ((F, F, ANY, ANY, ANY), F),
            ((F, T, T, ANY, ANY), F),
            ((F, T, F, F, ANY), T),
            ((F, T, F, T, T), T),
            ((F, T, F, T, F), F),
        ],
    ),
    "is_public": (("is_active", "is_private"), [((F, ANY), F), ((T, T), F), ((T, F), T)]),
    "may_see_post": (
        ("sees_author", "is_author", "is_shown"),
        [((F, ANY, ANY), F), ((T, ANY, T), T), ((T, T, F), T), ((T, F, F), F)],
    ),
    "is_listed_post": (("sees_author", "is_shown"), [((F, ANY), F), ((T, F), F), ((T, T), T)]),
    "is_public_post": (
        ("is_active", "is_private", "is_shown"),
        [((F, ANY, ANY), F), ((T, T, ANY), F), ((T, F, F), F), ((T, F, T), T)],
    ),
    "may_see_comment": (
        ("is_published", "is_held_back", "is_author", "is_post_author"),
        [
            ((T, ANY, ANY, ANY), T),
            ((F, F, ANY, ANY), F),
            ((F, T, T, ANY), T),
            ((F, T, F, T), T),
            ((F, T, F, F), F),
        ],
    ),
    "may_see_story": (
        ("is_author", "is_hidden", "is_playable", "is_for_close_friends", "is_close_friend"),
        [
            ((T, ANY, ANY, ANY, ANY), T),
            ((F, T, ANY, ANY, ANY), F),
            ((F, F, F, ANY, ANY), F),
            ((F, F, T, F, ANY), T),
            ((F, F, T, T, T), T),
            ((F, F, T, T, F), F),
        ],
    ),
    "needs_signature": (
        ("is_avatar", "is_private", "is_for_close_friends", "is_unposted"),
        [
            ((T, ANY, ANY, ANY), F),
            ((F, T, ANY, ANY), T),
            ((F, F, T, ANY), T),
            ((F, F, F, T), T),
            ((F, F, F, F), F),
        ],
    ),
    "may_open_file": (
        (
            "is_available",
            "is_active",
            "is_kept",
            "is_withheld",
            "needs_signature",
            "has_signature",
            "is_owner",
            "is_moderator",
        ),
        [
            ((F, ANY, ANY, ANY, ANY, ANY, ANY, ANY), F),
            ((T, ANY, ANY, ANY, ANY, ANY, ANY, T), T),
            ((T, F, ANY, ANY, ANY, ANY, ANY, F), F),
            ((T, T, F, ANY, ANY, ANY, ANY, F), F),
            ((T, T, T, ANY, ANY, ANY, T, F), T),
            ((T, T, T, T, ANY, ANY, F, F), F),
            ((T, T, T, F, F, ANY, F, F), T),
            ((T, T, T, F, T, T, F, F), T),
            ((T, T, T, F, T, F, F, F), F),
        ],
    ),
}

INSERTS = Queries.parse("""
-- name: add_account
INSERT INTO accounts (username, password_hash, status, is_private, follower_count)
VALUES (:username, '', :status, :is_private, 1) RETURNING id;
-- name: add_post
INSERT INTO posts (author_id, archived_at, hidden_at, deleted_at)
VALUES (:author_id, CASE WHEN :is_archived THEN now() END, CASE WHEN :is_hidden THEN now() END,
        CASE WHEN :is_deleted THEN now() END) RETURNING id;
-- name: add_media
INSERT INTO media (id, account_id, folder, width, height, kind, state)
VALUES (next_id(), :account_id, '', 1, 1, 'story', :state) RETURNING id;
-- name: add_story
INSERT INTO stories (author_id, media_id, audience, hidden_at)
VALUES (:author_id, :media_id, :audience, CASE WHEN :is_hidden THEN now() END) RETURNING id;
-- name: befriend
INSERT INTO attitudes (account_id, target_id, is_close_friend) VALUES (:account_id, :target_id, true);
-- name: add_following
INSERT INTO following (account_id, followee_id, change_id, is_requested)
VALUES (:account_id, :other_id, next_id(), :is_requested);
-- name: add_follower
INSERT INTO followers (account_id, follower_id, change_id, is_active, is_requested)
VALUES (:account_id, :other_id, next_id(), NOT :is_requested, :is_requested);
-- name: add_block
INSERT INTO blocks (account_id, blocked_id, change_id) VALUES (:account_id, :other_id, next_id());
-- name: add_blocked_by
INSERT INTO blocked_by (account_id, blocker_id, change_id, is_active, severed_id)
VALUES (:account_id, :other_id, next_id(), true, 0);
""")


def matching(patterns: list[Pattern], facts: tuple[bool, ...]) -> Iterator[bool]:
    for pattern, expected in patterns:
        if all(part is ANY or part == fact for part, fact in zip(pattern, facts, strict=True)):
            yield expected


@pytest.mark.parametrize("name", TABLES)
def test_every_combination_of_facts_is_decided_as_the_table_says(name: str) -> None:
    facts_names, patterns = TABLES[name]
    for facts in product(BOTH, repeat=len(facts_names)):
        [expected] = set(matching(patterns, facts))
        assert getattr(rules, name)(**dict(zip(facts_names, facts, strict=True))) is expected, facts


def test_every_rule_has_a_table() -> None:
    functions = {name for name, value in vars(rules).items() if callable(value)}
    assert functions == TABLES.keys()


def test_whoever_follows_sees_content_wherever_they_see_the_account() -> None:
    """The feed relies on it: its authors are the viewer and people the viewer follows."""
    for is_self, follows, is_active, has_block, is_private in product(BOTH, repeat=5):
        if is_self or follows:
            account = {"is_self": is_self, "is_active": is_active, "has_block": has_block}
            assert rules.may_see_content(
                **account, is_private=is_private, follows=follows
            ) == rules.may_see_account(**account)


async def test_queries_of_posts_agree_with_the_rules(rooms: Rooms) -> None:
    cases = list(product(STATUSES, BOTH, BOTH, BOTH, BOTH))
    async with rooms.shards.shard(0).begin() as tx:
        for number, (status, is_private, is_archived, is_hidden, is_deleted) in enumerate(cases):
            author = {"username": f"author{number}", "status": status, "is_private": is_private}
            author_id = await tx.fetch_value(INSERTS.add_account, **author)
            state = {"is_archived": is_archived, "is_hidden": is_hidden, "is_deleted": is_deleted}
            post_id = await tx.fetch_value(INSERTS.add_post, author_id=author_id, **state)

            is_shown, is_active = not any(state.values()), status == "active"
            is_listed = rules.is_listed_post(sees_author=True, is_shown=is_shown)
            assert await listed_posts(tx, author_id, post_id) == (
                [[post_id]] * 5 if is_listed else [[]] * 5
            ), state

            is_public = rules.is_public_post(is_active=is_active, is_private=is_private, is_shown=is_shown)
            topics = await tx.fetch_one(search.QUERIES.read_post_topics, post_id=post_id)
            [score] = await tx.fetch(search.QUERIES.gather_scores, ids=[post_id])
            assert topics is not None
            assert (is_public_post(topics), is_public_post(score)) == (is_public, is_public), (author, state)


@pytest.mark.slow
async def test_statements_that_check_the_viewer_themselves_agree_with_the_rules(rooms: Rooms) -> None:
    flags = ("is_archived", "is_hidden", "is_deleted")
    states = [{each: each == one for each in flags} for one in ("", *flags)]
    cases = product(("active", "suspended", "leaving"), BOTH, states, BOTH, BOTH, BOTH, BOTH)
    event = {"event": "tests", "payload": '{"change_id":', "request_id": ""}
    async with rooms.shards.shard(0).begin() as tx:
        for number, (status, is_private, state, follows, blocks, is_blocked, is_self) in enumerate(cases):
            author = {"username": f"author{number}", "status": status, "is_private": is_private}
            author_id = await tx.fetch_value(INSERTS.add_account, **author)
            post_id = await tx.fetch_value(INSERTS.add_post, author_id=author_id, **state)
            viewer = author_id if is_self else 1
            if not is_self:
                await relate(
                    tx, viewer, author_id, follows="active" if follows else "requested", blocks=blocks
                )
                await relate(tx, author_id, viewer, follows=None, blocks=is_blocked)

            sees_author = rules.may_see_content(
                is_self=is_self,
                is_active=status == "active",
                has_block=blocks or is_blocked,
                is_private=is_private,
                follows=follows,
            )
            is_shown = not any(state.values())
            may_see = not state["is_deleted"] and rules.may_see_post(
                sees_author=sees_author, is_author=is_self, is_shown=is_shown
            )
            who = {"post_id": post_id, "account_id": viewer}
            liked = await tx.fetch_one(posts.QUERIES.like, **who, **event, is_buffered=False)
            unliked = await tx.fetch_one(
                posts.QUERIES.unlike, **who, **event, is_buffered=False, is_erased=False
            )
            commented = await tx.fetch_one(
                comments.QUERIES.comment_at_once,
                **who,
                **event,
                text="hello",
                may_add=True,
                idempotency_key=None,
                within_s=60,
            )
            seen = [each is not None for each in (liked, unliked, commented)]
            assert seen == [may_see] * 3, (author, state, follows, blocks, is_blocked, is_self)


async def listed_posts(tx: Transaction, author_id: int, post_id: int) -> list[list[int]]:
    """The post, as far as it is listed by each of the queries that list posts for others."""
    page: dict[str, Any] = {"author_id": author_id, "before": 2**63 - 1, "limit": 10}
    of_author = await tx.fetch(posts.QUERIES.page_of_author, **page)
    of_profile = await tx.fetch(posts.QUERIES.page_of_profile, viewer_id=0, is_first=True, **page)
    profile = await tx.fetch_one(posts.QUERIES.read_profile, author_id=author_id, viewer_id=1, limit=10)
    assert profile is not None
    [recent] = await tx.fetch(feed.QUERIES.gather_recent, ids=[author_id], above=0, limit_each=10)
    popular = await tx.fetch(posts.QUERIES.list_popular, days=1, limit=1000)
    lists = [[row["id"] for row in rows] for rows in (of_author, of_profile, popular)]
    return [[each for each in ids if each == post_id] for ids in (*lists, profile["ids"], recent["posts"])]


async def test_queries_of_accounts_agree_with_the_rules(rooms: Rooms) -> None:
    expected: set[int] = set()
    async with rooms.shards.shard(0).begin() as tx:
        for status, is_private in product(STATUSES, BOTH):
            author = {"username": f"{status}{is_private}", "status": status, "is_private": is_private}
            account_id = await tx.fetch_value(INSERTS.add_account, **author)
            if rules.is_public(is_active=status == "active", is_private=is_private):
                expected.add(account_id)
            person = await tx.fetch_one(search.QUERIES.read_person, account_id=account_id)
            assert person is not None
            assert person["is_active"] == (status == "active")
        rows = await tx.fetch(accounts.QUERIES.list_most_followed, limit=100)

    assert {row["id"] for row in rows} == expected


async def test_queries_of_stories_agree_with_the_rules(rooms: Rooms) -> None:
    viewer, author_ids = 1, count(2)
    async with rooms.shards.shard(0).begin() as tx:
        await tx.execute(stories.QUERIES.create_partitions, shard=0, story_id=None, days=2)
        for is_hidden, state, audience, is_close_friend, is_author in product(
            BOTH, MEDIA_STATES, ("everyone", "close_friends"), BOTH, BOTH
        ):
            author_id = next(author_ids)
            media_id = await tx.fetch_value(INSERTS.add_media, account_id=author_id, state=state)
            story_id = await tx.fetch_value(
                INSERTS.add_story,
                author_id=author_id,
                media_id=media_id,
                audience=audience,
                is_hidden=is_hidden,
            )
            if is_close_friend:
                await tx.execute(INSERTS.befriend, account_id=author_id, target_id=viewer)
            who = author_id if is_author else viewer
            facts = {"is_hidden": is_hidden, "is_playable": state in PLAYABLE}
            audience_facts = {
                "is_for_close_friends": audience == "close_friends",
                "is_close_friend": is_close_friend,
            }

            [row] = await tx.fetch(stories.QUERIES.gather_stories, ids=[story_id], viewer_id=who)
            expected = rules.may_see_story(is_author=is_author, **facts, **audience_facts)
            assert is_visible(row, AccountId(who)) is expected, (facts, audience_facts)

            listed = await tx.fetch(stories.QUERIES.gather_author_stories, ids=[author_id])
            is_open = rules.may_see_story(
                is_author=False, **facts, is_for_close_friends=False, is_close_friend=False
            )
            assert bool(listed) is is_open, facts


async def test_both_sides_of_a_relation_and_the_feed_read_the_same_facts(rooms: Rooms) -> None:
    follow_states = (None, "requested", "active")
    pairs = product(follow_states, follow_states, BOTH, BOTH)
    async with rooms.shards.shard(0).begin() as tx:
        for number, (follows, follows_back, blocks, is_blocked) in enumerate(pairs):
            person = {"username": f"target{number}", "status": "active", "is_private": False}
            viewer, target = 1000 + number, await tx.fetch_value(INSERTS.add_account, **person)
            await relate(tx, viewer, target, follows=follows, blocks=blocks)
            await relate(tx, target, viewer, follows=follows_back, blocks=is_blocked)

            [seen] = await tx.fetch(graph.QUERIES.relations, viewer_id=viewer, others=[target])
            mirrored = await tx.fetch_one(graph.QUERIES.relation_at, target_id=target, viewer_id=viewer)
            state = await tx.fetch_one(
                feed.QUERIES.read_viewer_state, viewer_id=viewer, people=[target], posts=[]
            )
            profile = await tx.fetch_one(
                posts.QUERIES.read_profile, author_id=target, viewer_id=viewer, limit=10
            )
            assert mirrored is not None
            assert state is not None
            assert profile is not None
            assert {name: profile[name] for name in mirrored.keys()} == dict(mirrored)  # noqa: SIM118 - a Record
            assert {name: seen[name] for name in mirrored.keys()} == dict(mirrored)  # noqa: SIM118 - a Record
            assert (target in state["followed"]) is seen["follows"] is (follows == "active")
            assert (target in state["blocked"]) is (seen["blocks"] or seen["is_blocked"])


async def relate(tx: Transaction, one: int, other: int, *, follows: str | None, blocks: bool) -> None:
    """Both rows of what one person set towards another."""
    if follows is not None:
        is_requested = follows == "requested"
        await tx.execute(INSERTS.add_following, account_id=one, other_id=other, is_requested=is_requested)
        await tx.execute(INSERTS.add_follower, account_id=other, other_id=one, is_requested=is_requested)
    if blocks:
        await tx.execute(INSERTS.add_block, account_id=one, other_id=other)
        await tx.execute(INSERTS.add_blocked_by, account_id=other, other_id=one)
