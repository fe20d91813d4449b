"""What the worker does for posts, with a real one running beside."""

import asyncio
import json

import pytest
from typer.testing import CliRunner

from tests.posts.standing import id_of, run_sql
from tests.posts.test_changing import publish_with
from tests.support import Person, eventually
from tintype.base.ids import PostId
from tintype.base.settings import Settings
from tintype.cli import posts as command
from tintype.cli.entry import build_app
from tintype.wiring import Rooms
from tintype.worker import Worker


async def test_a_like_whose_process_died_reaches_the_likers_side_through_its_event(
    rooms: Rooms, ana: Person, bo: Person, working: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    post_id = PostId(int((await ana.publish())["post_id"]))
    assert (await bo.call("GET", f"/posts/{post_id}")).json()["like_count"] == 0

    async def die(*_: object) -> None:
        return

    with monkeypatch.context() as patch:
        for step in ("_mirror_at_once", "_renew_counts"):
            patch.setattr(rooms.posts, step, die)
        await bo.call("PUT", f"/posts/{post_id}/like")

    async def is_known() -> bool:
        seen = (await bo.call("GET", f"/posts/{post_id}")).json()
        return (seen["like_count"], seen["viewer_has_liked"]) == (1, True)

    await eventually(is_known, what="the like is known on both sides")


async def test_tags_whose_process_died_reach_the_tagged_through_their_event(
    rooms: Rooms, ana: Person, bo: Person, working: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def die(*_: object, **__: object) -> None:
        return

    with monkeypatch.context() as patch:
        patch.setattr(rooms.posts, "_mirror_tags_at_once", die)
        post = await publish_with(ana, bo)

    async def is_listed() -> bool:
        page = (await bo.call("GET", f"/accounts/{bo.account_id}/tagged")).json()
        return [each["post_id"] for each in page["posts"]] == [post["post_id"]]

    await eventually(is_listed, what="the post is listed with the one in it")


async def test_buffered_likes_are_written_by_the_clock(
    rooms: Rooms, ana: Person, bo: Person, working: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rooms.posts._desk.likes, "_threshold", 1)
    post = await ana.publish()
    await bo.call("PUT", f"/posts/{post['post_id']}/like")

    async def is_written() -> bool:
        rows = await run_sql(rooms, id_of(ana), f"SELECT like_count FROM posts WHERE id = {post['post_id']}")
        return rows[0]["like_count"] == 1

    await eventually(is_written, what="the count is in the row")


async def test_the_command_reports_drift_and_repairs_it_when_told(
    rooms: Rooms, ana: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    post = await ana.publish()
    await run_sql(rooms, id_of(ana), f"UPDATE posts SET like_count = 41 WHERE id = {post['post_id']}")
    monkeypatch.setattr(command, "running_settings", lambda: rooms.settings)

    def leave_the_log_alone(_settings: Settings, *, process: str) -> None:
        assert process

    monkeypatch.setattr(command, "set_up_log", leave_the_log_alone)

    async def run(*options: str) -> tuple[int, dict[str, int]]:
        arguments = ["posts", "reconcile", "--json", *options]
        result = await asyncio.to_thread(CliRunner().invoke, build_app(["posts"]), arguments)
        reports = json.loads(result.stdout.splitlines()[-1])
        return result.exit_code, {each["tally"]: each["drifted"] for each in reports}

    assert await run() == (1, {"likes": 1, "posts": 0, "comments": 0, "followers": 0, "following": 0})
    assert (await run("--fix"))[0] == 0
    assert await run() == (0, {"likes": 0, "posts": 0, "comments": 0, "followers": 0, "following": 0})
