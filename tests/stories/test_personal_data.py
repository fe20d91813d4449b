"""Export and erasure of a person's stories, highlights, replies and views."""

import pytest

from tests.personal_data.leftovers import find_leftovers
from tests.stories.support import handle, id_of, publish_story, query, story_id
from tests.support import Person
from tintype.media import open_largest
from tintype.stories import StorySeen
from tintype.wiring import Rooms


async def test_an_export_holds_stories_highlights_replies_and_what_was_seen(
    rooms: Rooms, friends: tuple[Person, Person]
) -> None:
    ana, bo = friends
    hers, his = await publish_story(ana, text="hello"), await publish_story(bo)
    await bo.call("POST", "/highlights", json={"title": "kept", "story_ids": [his["story_id"]]})
    await bo.call("PUT", f"/stories/{hers['story_id']}/seen")
    await bo.call("POST", f"/stories/{hers['story_id']}/replies", json={"text": "nice"})

    records = [record async for record in rooms.stories.personal_data.export(id_of(bo))]

    files = {record.file: record for record in records}
    assert list(files) == ["stories.json", "highlights.json", "story_replies.json", "seen_stories.json"]
    assert files["highlights.json"].content["title"] == "kept"
    assert files["story_replies.json"].content["text"] == "nice"
    assert files["seen_stories.json"].content == {"story_id": hers["story_id"]}
    for name in ("stories.json", "highlights.json"):
        folder = files[name].media_folder
        assert folder is not None
        assert await open_largest(rooms.media.storage, folder)


@pytest.mark.slow
async def test_erasing_an_account_leaves_nothing_with_others(
    rooms: Rooms, friends: tuple[Person, Person]
) -> None:
    ana, bo = friends
    hers, his = story_id(await publish_story(ana)), story_id(await publish_story(bo))
    await bo.call("POST", "/highlights", json={"title": "kept", "story_ids": [str(his)]})
    await bo.call("PUT", f"/stories/{hers}/reaction", json={"reaction": "🔥"})
    await bo.call("POST", f"/stories/{hers}/replies", json={"text": "nice"})
    await ana.call("PUT", f"/stories/{his}/seen")
    await handle(rooms, StorySeen(his, id_of(bo), id_of(ana)))
    assert await rooms.stories.personal_data.count_left(id_of(bo)) == 4

    while await rooms.stories.personal_data.erase(id_of(bo)):
        pass

    assert await rooms.stories.personal_data.count_left(id_of(bo)) == 0
    left = await find_leftovers(rooms, id_of(bo))
    ours = ("stories", "story_views", "seen_stories", "story_replies", "highlights", "highlight_items")
    assert [each for each in left if each.split("__")[0].split(".")[0] in ours] == []
    row = (await query(rooms, hers, f"SELECT view_count, reaction_count FROM stories WHERE id = {hers}"))[0]
    assert tuple(row) == (0, 0)
    assert [tuple(row) for row in await query(rooms, id_of(bo), "SELECT DISTINCT state FROM media")] in (
        [("deleted",)],
        [],
    )


async def test_late_events_of_an_erased_account_leave_no_rows(
    rooms: Rooms, friends: tuple[Person, Person]
) -> None:
    ana, bo = friends
    story = story_id(await publish_story(ana))
    await rooms.accounts.begin_deletion(id_of(bo))

    await handle(rooms, StorySeen(story, id_of(ana), id_of(bo)))

    assert await query(rooms, story, "SELECT FROM story_views") == []
