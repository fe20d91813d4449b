"""What makes a settled community look lived in: faces, words about oneself, talk under photos, stories of today.

Like settling, every step first looks at what is there, so that it may be repeated and interrupted. Stories pass after
a day, as everybody's do; another run on another day shows new ones.
"""

import asyncio
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from tintype.base.ids import AccountId, PostId
from tintype.demo.faces import take_portrait
from tintype.demo.models import Life, Person, Photo, Remark
from tintype.demo.pictures import take_picture
from tintype.demo.plan import Plan
from tintype.demo.talk import all_talk
from tintype.media import Media, Wish
from tintype.stories import NewStory
from tintype.wiring import Rooms

Progress = Callable[[str, int, int], None]
NEWEST = 2**63 - 1
LOOK_BACK = 200


class Living:
    """Days in the life of people who have settled."""

    def __init__(self, rooms: Rooms, people: Sequence[Person], *, seed: int = 1) -> None:
        self._rooms, self._people, self._seed = rooms, people, seed
        self._plan = Plan(people, seed)

    async def live(self, progress: Progress) -> Life:
        """Everybody who is here has a face, has said something and shows a story."""
        ids = {each.username: await self._rooms.accounts.find_id(each.username) for each in self._people}
        here = {name: account_id for name, account_id in ids.items() if account_id is not None}
        await self._show_faces(here, progress)
        comments = await self._talk(here, progress)
        stories = await self._tell(here, progress)
        return Life(faces=len(here), comments=comments, stories=stories)

    async def _show_faces(self, here: dict[str, AccountId], progress: Progress) -> None:
        people = [each for each in self._people if each.username in here]
        for done, person in enumerate(people, start=1):
            account = await self._rooms.accounts.get(here[person.username])
            if account.avatar_folder is None:
                content = await asyncio.to_thread(take_portrait, person.username)
                media = await self._upload(account.id, content, Wish(kind="avatar"))
                folder = await self._rooms.media.keep_as_avatar(account.id, media.id)
                await self._rooms.accounts.set_avatar(account.id, folder)
            if person.bio and not account.bio:
                await self._rooms.accounts.profiles.change(account.id, bio=person.bio)
            progress("faces", done, len(people))

    async def _talk(self, here: dict[str, AccountId], progress: Progress) -> int:
        posts = {
            (name, caption): post
            for name in here
            for caption, post in (await self._posts(here[name])).items()
        }
        remarks = [each for each in self._plan.remarks() if each.by in here and each.shot.username in here]
        for done, remark in enumerate(remarks, start=1):
            post_id = posts.get((remark.shot.username, remark.shot.photo.caption))
            if post_id is not None:
                await self._say(post_id, remark, here)
            progress("comments", done, len(remarks))
        return len(remarks)

    async def _say(self, post_id: PostId, remark: Remark, here: dict[str, AccountId]) -> None:
        comments = self._rooms.comments
        page = await comments.page(post_id, viewer=here[remark.by], sort="newest", place=None, limit=50)
        said = {(each.comment.account_id, each.comment.text): each.comment for each in page.comments}
        known = said.get((here[remark.by], remark.text))
        comment_id = known.id if known else await comments.add(post_id, here[remark.by], remark.text)
        if remark.reply and (known is None or known.thread_count == 0):
            author = here[remark.shot.username]
            await comments.add(post_id, author, remark.reply, reply_to=comment_id)

    async def _tell(self, here: dict[str, AccountId], progress: Progress) -> int:
        shots = [each for each in self._plan.stories() if each.username in here]
        for done, shot in enumerate(shots, start=1):
            author = here[shot.username]
            _, live = await self._rooms.stories.of_account(author, viewer=author)
            if len(live) < shot.number:
                await self._show_story(author, shot.photo)
            progress("stories", done, len(shots))
        return len(shots)

    async def _show_story(self, author: AccountId, photo: Photo) -> None:
        today = datetime.now(UTC).date().isoformat()
        seed = f"{self._seed}/{author}/{today}"
        content = await asyncio.to_thread(take_picture, photo.scene, photo.mood, "portrait", seed=seed)
        media = await self._upload(author, content, Wish(kind="story"))
        words = all_talk().stories
        story = NewStory(
            media_id=media.id, text=words.get(photo.mood, words["other"]), alt_text=photo.alt_text
        )
        await self._rooms.stories.publish(author, story)

    async def _posts(self, author: AccountId) -> dict[str, PostId]:
        page = await self._rooms.posts.page_of_author(author, before=NEWEST, limit=LOOK_BACK)
        found = await self._rooms.posts.find_many(page, viewer=author)
        return {post.caption: post.id for post in found.values()}

    async def _upload(self, author: AccountId, content: bytes, wish: Wish) -> Media:
        with self._rooms.media.workshop.folder() as folder:
            source = folder / "photo"
            await asyncio.to_thread(source.write_bytes, content)
            return await self._rooms.media.upload(author, source, wish)
