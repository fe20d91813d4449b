"""What viewers do with the stickers of stories: vote in polls, answer questions, ask to be reminded."""

from litestar import Controller, delete, get, put
from litestar.params import JSONBody

from tintype.api.http import scopes
from tintype.api.http.cursors import decode_cursor
from tintype.api.http.dependencies import Cursor, InjectedRooms, Limit, PathId, Viewer, parse_id
from tintype.api.routes.story_bodies import NewAnswer, NewVote
from tintype.api.views.context import context_for
from tintype.api.views.stories import StoryAnswersView, StoryView, show_answers, show_story
from tintype.stories import StoryId


class StoryStickersApi(Controller):
    """Polls, questions and countdowns in stories."""

    path = "/api/v1/stories/{story_id:str}"
    tags = ("Stories",)

    @put("/vote", summary="Vote in a poll", scope=scopes.STORIES_WRITE)
    async def vote(
        self, story_id: PathId, data: JSONBody[NewVote], viewer: Viewer, rooms: InjectedRooms
    ) -> StoryView:
        """Take one of the choices; it replaces an earlier one. The story comes with the counts."""
        story = await rooms.stories.vote(StoryId(parse_id(story_id)), viewer.id, data.choice)
        return show_story(story, context_for(viewer, rooms))

    @put("/answer", summary="Answer a question", status_code=204, scope=scopes.STORIES_WRITE)
    async def answer(
        self, story_id: PathId, data: JSONBody[NewAnswer], viewer: Viewer, rooms: InjectedRooms
    ) -> None:
        """Answer the story's question; it replaces an earlier answer. The author alone can read it."""
        await rooms.stories.answer(StoryId(parse_id(story_id)), viewer.id, data.text)

    @delete("/answer", summary="Withdraw an answer", scope=scopes.STORIES_WRITE)
    async def withdraw(self, story_id: PathId, viewer: Viewer, rooms: InjectedRooms) -> None:
        """Withdraw the viewer's answer."""
        await rooms.stories.answer(StoryId(parse_id(story_id)), viewer.id, None)

    @get("/answers", summary="Answers to a question", scope=scopes.READ)
    async def answers(
        self, story_id: PathId, viewer: Viewer, rooms: InjectedRooms, cursor: Cursor = None, limit: Limit = 20
    ) -> StoryAnswersView:
        """Answers to the story's question, those of the latest viewers first; for its author alone."""
        page = await rooms.stories.list_answers(
            StoryId(parse_id(story_id)), owner=viewer.id, before=decode_cursor(cursor), limit=limit
        )
        return show_answers(page)

    @put("/reminder", summary="Be reminded", status_code=204, scope=scopes.STORIES_WRITE)
    async def remind(self, story_id: PathId, viewer: Viewer, rooms: InjectedRooms) -> None:
        """Notify the viewer at the end of the story's countdown."""
        await rooms.stories.remind(StoryId(parse_id(story_id)), viewer.id)

    @delete("/reminder", summary="Don't be reminded", scope=scopes.STORIES_WRITE)
    async def forget(self, story_id: PathId, viewer: Viewer, rooms: InjectedRooms) -> None:
        """Do not notify the viewer at the end of the story's countdown."""
        await rooms.stories.forget_reminder(StoryId(parse_id(story_id)), viewer.id)
