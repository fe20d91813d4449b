"""Export and erasure of comments."""

import pytest
from httpx import AsyncClient

from tests.comments.test_comments import comment_on, comments, count_of, replies
from tests.support import Person, eventually, join
from tintype.base.ids import AccountId
from tintype.wiring import Rooms
from tintype.worker import Worker


@pytest.mark.slow
async def test_all_comments_and_likes_of_a_person_are_exported_and_erased(
    rooms: Rooms, working: Worker, client: AsyncClient, ana: Person, bo: Person
) -> None:
    assert working
    cy, leaver = await join(client, "cy"), AccountId(int(bo.account_id))
    hers, his = await ana.publish(), await bo.publish()
    said = await comment_on(bo, hers, "I was here")
    await comment_on(cy, hers, "I answer", reply_to=said["comment_id"])
    liked = await comment_on(ana, hers, "liked")
    await bo.call("PUT", f"/comments/{liked['comment_id']}/like")
    await comment_on(cy, his, "under his photo")

    async def is_indexed() -> bool:
        return await rooms.comments.personal_data.count_left(leaver) >= 3

    await eventually(is_indexed, what="the index of his comments")
    exported = [
        (record.file, record.content.get("text"))
        async for record in rooms.comments.personal_data.export(leaver)
    ]
    assert exported == [("comments.json", "I was here"), ("liked_comments.json", None)]

    async def is_erased() -> bool:  # In rounds, as erasure does: events of the removals come late.
        while await rooms.comments.personal_data.erase(leaver):
            pass
        return await rooms.comments.personal_data.count_left(leaver) == 0

    await eventually(is_erased, what="the erasure of his comments")
    assert [(each["state"], each["text"]) for each in await comments(ana, hers)] == [
        ("visible", "liked"),
        ("gone", ""),
    ]
    assert [each["text"] for each in await replies(cy, said)] == ["I answer"]
    assert await count_of(ana, hers) == 2
    assert (await ana.call("GET", f"/comments/{liked['comment_id']}")).json()["like_count"] == 0
