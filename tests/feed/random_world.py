"""Random actions of a few people, through the rooms' public methods: everything that decides about a feed."""

import contextlib
import random
import secrets
from collections.abc import Awaitable, Callable

from tests.graph.graph_state import QUERIES as GRAPH
from tests.support import set_status
from tintype.base.errors import TintypeError
from tintype.base.ids import AccountId, MediaId, PostId
from tintype.media import QUERIES as MEDIA
from tintype.posts import PersonTag, Place, PostChanges, PostMediaChanges
from tintype.wiring import Rooms

NAMES = ("ana", "bo", "cy", "dee", "eli", "fay")
CAPTIONS = (
    "",
    "plain words",
    'quotes ",\\"like_count\\":1,"like_count":2',
    "@ana and #sunset",
    "@bo @cy ☀️ \u2028 </p>",
)


class RandomWorld:
    """People, posts and what happens between them."""

    def __init__(self, rooms: Rooms, seed: int) -> None:
        self.rooms, self.chance = rooms, random.Random(seed)  # noqa: S311 - a world is repeated by its seed
        self.people: list[AccountId] = []
        self.posts: list[PostId] = []

    async def begin(self) -> None:
        """Everybody signs up and posts, and a lot happens."""
        for name in NAMES:
            joined = await self.rooms.accounts.sign_up(name, "correct horse battery")
            self.people.append(joined.account.id)
        for _ in range(20):
            await self.follow()
        for _ in range(14):
            await self.publish()
        await self.happen(40)

    async def happen(self, times: int) -> None:
        """This many random actions; those that are refused have no effect."""
        doings: list[Callable[[], Awaitable[object]]] = [
            self.follow,
            self.follow,
            self.unfollow,
            self.mute,
            self.block,
            self.unblock,
            self.turn_private,
            self.change_status,
            self.change_post,
            self.edit,
            self.like,
            self.like,
            self.unlike,
            self.save,
            self.unsave,
            self.buffer_like,
            self.publish,
        ]
        for _ in range(times):
            with contextlib.suppress(TintypeError):
                await self.chance.choice(doings)()

    async def follow(self) -> None:
        one, other = self._pair()
        with contextlib.suppress(TintypeError):
            await self.rooms.graph.follow(one, other)

    async def unfollow(self) -> None:
        await self.rooms.graph.unfollow(*self._pair())

    async def mute(self) -> None:
        await self.rooms.graph.mute(*self._pair(), posts=self.chance.random() < 0.6, stories=True)

    async def block(self) -> None:
        await self.rooms.graph.block(*self._pair())

    async def unblock(self) -> None:
        await self.rooms.graph.unblock(*self._pair())

    async def turn_private(self) -> None:
        one = self.chance.choice(self.people)
        is_private = self.chance.random() < 0.5
        await self.rooms.shards.owner(one).execute(GRAPH.set_privacy, id=one, is_private=is_private)
        await self.rooms.accounts.invalidate(one)

    async def change_status(self) -> None:
        status = self.chance.choice(("active", "active", "active", "deactivated", "suspended"))
        await set_status(self.rooms, self.chance.choice(self.people), status)

    async def change_post(self) -> None:
        post_id, posts = self.chance.choice(self.posts), self.rooms.posts
        doing = self.chance.choice(("archive", "unarchive", "hide", "restore", "pin", "remove"))
        found = (await posts.find_unfiltered([post_id])).get(post_id)
        if found is not None:
            await getattr(posts, doing)(post_id, found.author_id)

    async def edit(self) -> None:
        post_id = self.chance.choice(self.posts)
        found = (await self.rooms.posts.find_unfiltered([post_id])).get(post_id)
        if found is not None:
            tagged = PostMediaChanges(media_id=found.media[0].media_id, tagged=self._tags())
            changes = PostChanges(
                caption=self.chance.choice(CAPTIONS),
                media=(tagged,),
                hides_like_count=self.chance.random() < 0.3,
            )
            await self.rooms.posts.edit(post_id, found.author_id, changes)

    async def like(self) -> None:
        await self.rooms.posts.like(self.chance.choice(self.posts), self.chance.choice(self.people))

    async def unlike(self) -> None:
        await self.rooms.posts.unlike(self.chance.choice(self.posts), self.chance.choice(self.people))

    async def unsave(self) -> None:
        await self.rooms.saves.unsave(self.chance.choice(self.posts), self.chance.choice(self.people))

    async def save(self) -> None:
        await self.rooms.saves.save(self.chance.choice(self.posts), self.chance.choice(self.people))

    async def buffer_like(self) -> None:
        await self.rooms.posts.sources().like_counters.buffer(self.chance.choice(self.posts), 2)

    async def publish(self) -> None:
        author = self.chance.choice(self.people)
        place = Place("cape-1", "The cape", 54.5, 13.4) if self.chance.random() < 0.3 else None
        with contextlib.suppress(TintypeError):
            made = await self.rooms.posts.publish(
                author,
                [await self._picture(author), await self._picture(author, "video")],
                caption=self.chance.choice(CAPTIONS),
                tagged=[self._tags(), ()],
                place=place,
                hides_like_count=self.chance.random() < 0.3,
                comments_enabled=self.chance.random() < 0.8,
            )
            self.posts.append(made)

    def _pair(self) -> tuple[AccountId, AccountId]:
        one, other = self.chance.sample(self.people, 2)
        return one, other

    def _tags(self) -> tuple[PersonTag, ...]:
        chosen = self.chance.sample(self.people, self.chance.choice((0, 0, 1, 2)))
        return tuple(PersonTag(each, 0.25, 0.5) for each in chosen)

    async def _picture(self, account_id: AccountId, kind: str = "image") -> MediaId:
        shard = self.rooms.shards.owner(account_id)
        media_id = await shard.fetch_value(MEDIA.draw_media_id)
        await shard.execute(
            MEDIA.add_media,
            id=media_id,
            account_id=account_id,
            folder=secrets.token_hex(8),
            type=kind,
            state="ready",
            kind="post",
            width=1080,
            height=1080,
            placeholder="abc",
            duration_ms=None if kind == "image" else 4_000,
            progress=100,
            keeps_location=False,
            removed=[],
            edit=None,
            large_width=0,
            camera=None,
            waveform=None,
            size_bytes=0,
        )
        return MediaId(media_id)
