"""Event handlers and schedules of posts, with a real worker running."""

import asyncio
import json

import pytest
from typer.testing import CliRunner

from tests.posts.people import id_of, run_sql
from tests.posts.test_edit_and_lifecycle import publish_with
from tests.support import Person, eventually
from tintype.base.ids import PostId
from tintype.base.settings import Settings
from tintype.cli import posts as command
from tintype.cli.entry import build_app
from tintype.wiring import Rooms
from tintype.worker import Worker


async def test_a_like_whose_process_died_is_indexed_by_its_event_handler(
    rooms: Rooms, ana: Person, bo: Person, working: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    post_id = PostId(int((await ana.publish())["post_id"]))
    assert (await bo.call("GET", f"/posts/{post_id}")).json()["like_count"] == 0

    async def die(*_: object) -> None:
        return

    with monkeypatch.context() as patch:
        patch.setattr(rooms.posts._likes._index, "try_write", die)
        patch.setattr(rooms.posts._cache, "replace_counts", die)
        await bo.call("PUT", f"/posts/{post_id}/like")

    async def is_known() -> bool:
        seen = (await bo.call("GET", f"/posts/{post_id}")).json()
        return (seen["like_count"], seen["viewer_has_liked"]) == (1, True)

    await eventually(is_known, what="the like is known on both sides")


async def test_tags_whose_process_died_are_indexed_by_the_event_handler(
    rooms: Rooms, ana: Person, bo: Person, working: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def die(*_: object, **__: object) -> None:
        return

    with monkeypatch.context() as patch:
        patch.setattr(rooms.posts._tags, "try_index", die)
        post = await publish_with(ana, bo)

    async def is_listed() -> bool:
        page = (await bo.call("GET", f"/accounts/{bo.account_id}/tagged")).json()
        return [each["post_id"] for each in page["posts"]] == [post["post_id"]]

    await eventually(is_listed, what="the post is listed with the one in it")


@pytest.mark.slow
async def test_buffered_likes_are_flushed_on_schedule(
    rooms: Rooms, ana: Person, bo: Person, working_on_schedule: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rooms.posts._dependencies.like_counters, "_threshold", 1)
    post = await ana.publish()
    await bo.call("PUT", f"/posts/{post['post_id']}/like")

    async def is_written() -> bool:
        rows = await run_sql(rooms, id_of(ana), f"SELECT like_count FROM posts WHERE id = {post['post_id']}")
        return rows[0]["like_count"] == 1

    await eventually(is_written, what="the count is in the row")


@pytest.mark.slow
async def test_the_reconcile_command_reports_drift_and_repairs_it_with_fix(
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

    none = dict.fromkeys(("likes", "posts", "comments", "followers", "following", "storage"), 0)
    assert await run() == (1, none | {"likes": 1})
    assert (await run("--fix"))[0] == 0
    assert await run() == (0, none)
