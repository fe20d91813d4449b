"""Lets the invented people join and live here, through the same doors as everybody else.

Every step first looks at what is there already, so a run that was cut short is completed by the next one, and
a run too many changes nothing.
"""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

import msgspec

from tintype.accounts import AccountNotFound, CredentialsWrong, SignedIn, UsernameTaken
from tintype.base.ids import AccountId, PostId
from tintype.demo.models import Count, Person, Shot, Summary
from tintype.demo.pictures import take_picture
from tintype.demo.plan import Plan
from tintype.demo.talk import all_talk
from tintype.media import Wish
from tintype.posts import Place
from tintype.wiring import Rooms

Progress: TypeAlias = Callable[[str, int, int], None]
"""Told the stage, how much of it is done, and how much there is."""
NEWEST = 2**63 - 1
LOOK_BACK = 200
FRIENDS_OF_A_NEWCOMER = 8
CLAIM_TRIES = 16
"""A sign-up that was cut short frees its username after a minute; with the pause between tries, we outlast it."""


class Demo:
    """Settles people in an installation."""

    def __init__(self, rooms: Rooms, *, password: str, seed: int = 1, pause_s: float = 5.0) -> None:
        self._rooms, self._password, self._seed, self._pause_s = rooms, password, seed, pause_s

    async def settle(
        self, people: Sequence[Person], progress: Progress, *, newcomer: AccountId | None = None
    ) -> Summary:
        """Everybody has joined, follows, has posted and has liked; what was there before stays as it was.

        A newcomer follows a few before the first photo, so that they see photos arrive.
        """
        ids, new_people = await self._join(people, progress)
        there = [person for person in people if person.username in ids]
        plan = Plan(there, self._seed)
        follows = await self._follow(plan, ids, progress)
        if newcomer is not None:
            await self._welcome(newcomer, there, ids)
        posts, new_posts = await self._publish(plan, ids, progress)
        likes = await self._like(plan, ids, posts, progress)
        return Summary(
            people=Count(len(ids), new_people),
            follows=follows,
            posts=Count(len(posts), new_posts),
            likes=likes,
            skipped=[person.username for person in people if person.username not in ids],
        )

    async def _join(self, people: Sequence[Person], progress: Progress) -> tuple[dict[str, AccountId], int]:
        ids: dict[str, AccountId] = {}
        new = 0
        for done, person in enumerate(people, start=1):
            is_new = await self._rooms.accounts.find_id(person.username) is None
            entered = await self._enter_patiently(person)
            if entered is not None:
                await self._rooms.accounts.sign_out(entered.token)  # the account was wanted, not the session
                ids[person.username] = entered.account.id
                new += is_new
            progress("people", done, len(people))
        return ids, new

    async def _enter_patiently(self, person: Person) -> SignedIn | None:
        """Signed in, or None when the name is somebody else's."""
        for _ in range(CLAIM_TRIES):
            try:
                return await self._enter(person)
            except CredentialsWrong:
                if not await self._is_half_made(person.username):
                    return None
                await asyncio.sleep(self._pause_s)
        return None

    async def _enter(self, person: Person) -> SignedIn:
        accounts = self._rooms.accounts
        try:
            return await accounts.sign_up(person.username, self._password, full_name=person.full_name)
        except UsernameTaken:
            return await accounts.sign_in(person.username, self._password)

    async def _is_half_made(self, username: str) -> bool:
        """Whether the name is claimed and the account behind it never came to be."""
        try:
            await self._rooms.accounts.get_by_name(username)
        except AccountNotFound:
            return True
        return False

    async def _follow(self, plan: Plan, ids: dict[str, AccountId], progress: Progress) -> Count:
        wanted = [(ids[one], ids[other]) for one, other in plan.follows()]
        followed = {one: await self._rooms.graph.which_followed(one, ids.values()) for one in ids.values()}
        new = 0
        for done, (one, other) in enumerate(wanted, start=1):
            if other not in followed[one]:
                await self._rooms.graph.follow(one, other)
                new += 1
            progress("follows", done, len(wanted))
        return Count(len(wanted), new)

    async def _welcome(
        self, newcomer: AccountId, people: Sequence[Person], ids: dict[str, AccountId]
    ) -> None:
        famous = [ids[each.username] for each in sorted(people, key=lambda each: -each.fame)]
        known = await self._rooms.graph.which_followed(newcomer, famous)
        for account_id in famous[:FRIENDS_OF_A_NEWCOMER]:
            if account_id not in known:
                await self._rooms.graph.follow(newcomer, account_id)

    async def _publish(
        self, plan: Plan, ids: dict[str, AccountId], progress: Progress
    ) -> tuple[dict[tuple[str, int], PostId], int]:
        posted = {username: await self._captions(account_id) for username, account_id in ids.items()}
        posts: dict[tuple[str, int], PostId] = {}
        shots = plan.shots()
        new = 0
        for done, shot in enumerate(shots, start=1):
            post_id = posted[shot.username].get(shot.photo.caption)
            if post_id is None:
                post_id = await self._post(ids[shot.username], shot)
                new += 1
            posts[shot.username, shot.number] = post_id
            progress("photos", done, len(shots))
        return posts, new

    async def _captions(self, author: AccountId) -> dict[str, PostId]:
        """What an author has posted, by its caption."""
        page = await self._rooms.posts.page_of_author(author, before=NEWEST, limit=LOOK_BACK)
        found = await self._rooms.posts.find_many(page, viewer=author)
        return {post.caption: post.id for post in found.values()}

    async def _post(self, author: AccountId, shot: Shot) -> PostId:
        photo = shot.photo
        seed = f"{self._seed}/{shot.username}/{shot.number}"
        content = await asyncio.to_thread(take_picture, photo.scene, photo.mood, photo.shape, seed=seed)
        with self._rooms.media.workshop.folder() as folder:
            source = folder / "photo"
            await asyncio.to_thread(source.write_bytes, content)
            edit = msgspec.json.encode({"look": photo.look} if photo.look else None)
            media = await self._rooms.media.upload(author, source, Wish(edit=msgspec.Raw(edit)))
        return await self._rooms.posts.publish(
            author,
            [media.id],
            caption=photo.caption,
            alt_texts=[photo.alt_text],
            place=await self._place(author, photo.place),
            idempotency_key=shot.key,
        )

    async def _place(self, author: AccountId, name: str) -> Place | None:
        if not name:
            return None
        found = await self._rooms.search.places.name(author, name, *all_talk().places[name])
        return Place(found.id, found.name, found.latitude, found.longitude)

    async def _like(
        self,
        plan: Plan,
        ids: dict[str, AccountId],
        posts: dict[tuple[str, int], PostId],
        progress: Progress,
    ) -> Count:
        wanted = [(ids[who], posts[shot.username, shot.number]) for who, shot in plan.likes()]
        liked = {who: await self._liked(who, posts.values()) for who in ids.values()}
        new = 0
        for done, (who, post_id) in enumerate(wanted, start=1):
            if post_id not in liked[who]:
                await self._rooms.posts.like(post_id, who)
                new += 1
            progress("likes", done, len(wanted))
        return Count(len(wanted), new)

    async def _liked(self, by: AccountId, posts: Iterable[PostId]) -> set[PostId]:
        found = await self._rooms.posts.find_many(posts, viewer=by)
        return {post.id for post in found.values() if post.viewer_has_liked}
