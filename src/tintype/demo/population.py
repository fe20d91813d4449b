"""Signs up the demo people, and lets them follow, post and like through the same methods as everybody else.

Every step skips what already exists: a run that was interrupted is completed by the next one, and a run too many
changes nothing.
"""

import asyncio
from collections.abc import Iterable, Sequence

import msgspec

from tintype.accounts import AccountNotFound, CredentialsWrong, SignedIn, UsernameTaken
from tintype.base.ids import AccountId, PostId
from tintype.demo.content import find_posts, upload
from tintype.demo.models import Count, Person, PlannedPhoto, ReportProgress, Summary
from tintype.demo.photos import render_photo
from tintype.demo.plan import Plan
from tintype.demo.texts import load_texts
from tintype.media import UploadOptions
from tintype.posts import Place
from tintype.wiring import Rooms

NEWCOMER_FOLLOWS = 8
SIGN_UP_TRIES = 16
"""An interrupted sign-up releases its username after a minute; with the pause between tries this waits longer."""


class Population:
    """The demo people, with their follows, posts and likes."""

    def __init__(self, rooms: Rooms, *, password: str, seed: int = 1, pause_s: float = 5.0) -> None:
        self._rooms, self._password, self._seed, self._pause_s = rooms, password, seed, pause_s

    async def create(
        self, people: Sequence[Person], progress: ReportProgress, *, newcomer: AccountId | None = None
    ) -> Summary:
        """Sign up those who are missing, and add their follows, posts and likes.

        The newcomer, whose request this is, follows some of them before the first photo, to see photos arrive.
        """
        ids, new_people = await self._sign_up(people, progress)
        present = [person for person in people if person.username in ids]
        plan = Plan(present, self._seed)
        follows = await self._follow(plan, ids, progress)
        if newcomer is not None:
            await self._let_follow(newcomer, present, ids)
        posts, new_posts = await self._publish(plan, ids, progress)
        likes = await self._like(plan, ids, posts, progress)
        return Summary(
            people=Count(len(ids), new_people),
            follows=follows,
            posts=Count(len(posts), new_posts),
            likes=likes,
            skipped=[person.username for person in people if person.username not in ids],
        )

    async def _sign_up(
        self, people: Sequence[Person], progress: ReportProgress
    ) -> tuple[dict[str, AccountId], int]:
        ids: dict[str, AccountId] = {}
        new = 0
        for done, person in enumerate(people, start=1):
            is_new = await self._rooms.accounts.find_id(person.username) is None
            signed_in = await self._sign_in_with_retries(person)
            if signed_in is not None:
                await self._rooms.authentication.sign_out(signed_in.token)  # only the account is needed
                ids[person.username] = signed_in.account.id
                new += is_new
            progress("people", done, len(people))
        return ids, new

    async def _sign_in_with_retries(self, person: Person) -> SignedIn | None:
        """Sign in or up; None when the username belongs to somebody else."""
        for _ in range(SIGN_UP_TRIES):
            try:
                return await self._sign_in(person)
            except CredentialsWrong:
                if not await self._is_sign_up_unfinished(person.username):
                    return None
                await asyncio.sleep(self._pause_s)
        return None

    async def _sign_in(self, person: Person) -> SignedIn:
        try:
            return await self._rooms.accounts.sign_up(
                person.username, self._password, full_name=person.full_name
            )
        except UsernameTaken:
            return await self._rooms.authentication.sign_in(person.username, self._password)

    async def _is_sign_up_unfinished(self, username: str) -> bool:
        """Whether the username is claimed without an account: its sign-up was interrupted."""
        try:
            await self._rooms.accounts.get_by_name(username)
        except AccountNotFound:
            return True
        return False

    async def _follow(self, plan: Plan, ids: dict[str, AccountId], progress: ReportProgress) -> Count:
        wanted = [(ids[one], ids[other]) for one, other in plan.follows()]
        followed = {one: await self._rooms.graph.which_followed(one, ids.values()) for one in ids.values()}
        new = 0
        for done, (one, other) in enumerate(wanted, start=1):
            if other not in followed[one]:
                await self._rooms.graph.follow(one, other)
                new += 1
            progress("follows", done, len(wanted))
        return Count(len(wanted), new)

    async def _let_follow(
        self, newcomer: AccountId, people: Sequence[Person], ids: dict[str, AccountId]
    ) -> None:
        famous = [ids[each.username] for each in sorted(people, key=lambda each: -each.fame)]
        known = await self._rooms.graph.which_followed(newcomer, famous)
        for account_id in famous[:NEWCOMER_FOLLOWS]:
            if account_id not in known:
                await self._rooms.graph.follow(newcomer, account_id)

    async def _publish(
        self, plan: Plan, ids: dict[str, AccountId], progress: ReportProgress
    ) -> tuple[dict[tuple[str, int], PostId], int]:
        posted = {username: await find_posts(self._rooms, account_id) for username, account_id in ids.items()}
        posts: dict[tuple[str, int], PostId] = {}
        planned = plan.photos()
        new = 0
        for done, photo in enumerate(planned, start=1):
            post_id = posted[photo.username].get(photo.photo.caption)
            if post_id is None:
                post_id = await self._post(ids[photo.username], photo)
                new += 1
            posts[photo.username, photo.number] = post_id
            progress("photos", done, len(planned))
        return posts, new

    async def _post(self, author: AccountId, planned: PlannedPhoto) -> PostId:
        photo = planned.photo
        seed = f"{self._seed}/{planned.username}/{planned.number}"
        content = await asyncio.to_thread(render_photo, photo.scene, photo.mood, photo.shape, seed=seed)
        edit = msgspec.json.encode({"look": photo.look} if photo.look else None)
        media = await upload(self._rooms, author, content, UploadOptions(edit=msgspec.Raw(edit)))
        return await self._rooms.posts.publish(
            author,
            [media.id],
            caption=photo.caption,
            alt_texts=[photo.alt_text],
            place=await self._place(author, photo.place),
            idempotency_key=planned.key,
        )

    async def _place(self, author: AccountId, name: str) -> Place | None:
        if not name:
            return None
        found = await self._rooms.search.get_or_create_place(author, name, *load_texts().places[name])
        return Place(found.id, found.name, found.latitude, found.longitude)

    async def _like(
        self,
        plan: Plan,
        ids: dict[str, AccountId],
        posts: dict[tuple[str, int], PostId],
        progress: ReportProgress,
    ) -> Count:
        wanted = [(ids[who], posts[photo.username, photo.number]) for who, photo in plan.likes()]
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
