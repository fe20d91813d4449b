"""Gives the demo people avatars, bios, comments under photos and stories of today.

Every step skips what already exists, so that it can be repeated and interrupted. Stories expire after a day; a run on
another day publishes new ones.
"""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime

from tintype.accounts import ProfileUpdate
from tintype.base.ids import AccountId, PostId
from tintype.comments import CommentDraft
from tintype.demo.content import find_posts, upload
from tintype.demo.models import ActivitySummary, Person, Photo, PlannedComment, ReportProgress
from tintype.demo.photos import render_photo
from tintype.demo.plan import Plan
from tintype.demo.portraits import render_portrait
from tintype.demo.texts import load_texts
from tintype.media import UploadOptions
from tintype.stories import NewStory
from tintype.wiring import Rooms


class DemoActivity:
    """Avatars, bios, comments and stories of the demo people who have signed up."""

    def __init__(self, rooms: Rooms, people: Sequence[Person], *, seed: int = 1) -> None:
        self._rooms, self._people, self._seed = rooms, people, seed
        self._plan = Plan(people, seed)

    async def add(self, progress: ReportProgress) -> ActivitySummary:
        """Add what is missing for everybody who has signed up."""
        ids = {each.username: await self._rooms.accounts.find_id(each.username) for each in self._people}
        signed_up = {name: account_id for name, account_id in ids.items() if account_id is not None}
        await self._add_avatars(signed_up, progress)
        comments = await self._add_comments(signed_up, progress)
        stories = await self._add_stories(signed_up, progress)
        return ActivitySummary(faces=len(signed_up), comments=comments, stories=stories)

    async def _add_avatars(self, signed_up: dict[str, AccountId], progress: ReportProgress) -> None:
        people = [each for each in self._people if each.username in signed_up]
        for done, person in enumerate(people, start=1):
            account = await self._rooms.accounts.get(signed_up[person.username])
            if account.avatar_folder is None:
                content = await asyncio.to_thread(render_portrait, person.username)
                media = await upload(self._rooms, account.id, content, UploadOptions(kind="avatar"))
                await self._rooms.media.set_avatar(account.id, media.id)
            if person.bio and not account.bio:
                await self._rooms.accounts.change_profile(account.id, ProfileUpdate(bio=person.bio))
            progress("faces", done, len(people))

    async def _add_comments(self, signed_up: dict[str, AccountId], progress: ReportProgress) -> int:
        posts = {
            (name, caption): post
            for name in signed_up
            for caption, post in (await find_posts(self._rooms, signed_up[name])).items()
        }
        planned = [
            each
            for each in self._plan.comments()
            if each.by in signed_up and each.under.username in signed_up
        ]
        for done, comment in enumerate(planned, start=1):
            post_id = posts.get((comment.under.username, comment.under.photo.caption))
            if post_id is not None:
                await self._comment(post_id, comment, signed_up)
            progress("comments", done, len(planned))
        return len(planned)

    async def _comment(
        self, post_id: PostId, comment: PlannedComment, signed_up: dict[str, AccountId]
    ) -> None:
        comments = self._rooms.comments
        page = await comments.page(
            post_id, viewer=signed_up[comment.by], sort="newest", cursor=None, limit=50
        )
        said = {(each.comment.account_id, each.comment.text): each.comment for each in page.comments}
        known = said.get((signed_up[comment.by], comment.text))
        comment_id = (
            known.id
            if known
            else await comments.add(post_id, signed_up[comment.by], CommentDraft(comment.text))
        )
        if comment.reply and (known is None or known.thread_count == 0):
            author = signed_up[comment.under.username]
            await comments.add(post_id, author, CommentDraft(comment.reply, comment_id))

    async def _add_stories(self, signed_up: dict[str, AccountId], progress: ReportProgress) -> int:
        planned = [each for each in self._plan.stories() if each.username in signed_up]
        for done, photo in enumerate(planned, start=1):
            author = signed_up[photo.username]
            _, live = await self._rooms.stories.list_of_account(author, viewer=author)
            if len(live) < photo.number:
                await self._publish_story(author, photo.photo)
            progress("stories", done, len(planned))
        return len(planned)

    async def _publish_story(self, author: AccountId, photo: Photo) -> None:
        today = datetime.now(UTC).date().isoformat()
        seed = f"{self._seed}/{author}/{today}"
        content = await asyncio.to_thread(render_photo, photo.scene, photo.mood, "portrait", seed=seed)
        media = await upload(self._rooms, author, content, UploadOptions(kind="story"))
        texts = load_texts().stories
        story = NewStory(
            media_id=media.id, text=texts.get(photo.mood, texts["other"]), alt_text=photo.alt_text
        )
        await self._rooms.stories.publish(author, story)
