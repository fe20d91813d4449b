import asyncio
import json
import os
import sys

import pytest
from httpx import AsyncClient

from shardwright.routing import Query
from tests.search.conftest import Publish
from tests.support import Person, join
from tintype.base.ids import AccountId
from tintype.search.store import QUERIES
from tintype.wiring import Rooms

RENAME = Query.parse("rename", "UPDATE accounts SET full_name = :name WHERE id = :account_id")
TERMS = Query.parse("terms", "SELECT subject, term FROM search_entries WHERE key LIKE 'people:%'")
COUNTS = Query.parse(
    "counts",
    "SELECT t.topic, t.post_count, (SELECT count(*) FROM topic_posts AS p WHERE p.topic = t.topic) AS listed "
    "FROM topics AS t",
)


@pytest.mark.slow
async def test_a_rebuild_during_live_changes_ends_with_the_truth(
    rooms: Rooms, client: AsyncClient, publish: Publish
) -> None:
    people = [await join(client, f"person{number}") for number in range(6)]
    for person in people:
        await publish(person, "#one #two")

    async def live(person: Person) -> None:
        account_id = AccountId(int(person.account_id))
        for number in range(4):
            name = f"Name{number} {person.username}"
            await rooms.shards.owner(account_id).execute(RENAME, account_id=account_id, name=name)
            await rooms.search.index_account(account_id)
            await publish(person, f"#one #tag{number}")

    await asyncio.gather(
        *(live(person) for person in people),
        rooms.search.rebuild(_ignore_progress),
        rooms.search.rebuild(_ignore_progress),
    )

    filed: dict[str, set[str]] = {}
    for row in await rooms.shards.everywhere().fetch(TERMS):
        filed.setdefault(row["subject"], set()).add(row["term"])
    assert filed == {each.account_id: {each.username, "name3"} for each in people}
    counts = {row["topic"]: row["post_count"] for row in await rooms.shards.everywhere().fetch(COUNTS)}
    assert counts == {"tag:one": 30, "tag:two": 6, **{f"tag:tag{number}": 6 for number in range(4)}}
    assert all(row["post_count"] == row["listed"] for row in await rooms.shards.everywhere().fetch(COUNTS))
    found = await rooms.search.find_tags("one", limit=5)
    assert [each.tag for each in found] == ["one"]


@pytest.mark.slow
async def test_the_command_rebuilds_and_reports_its_stages(
    rooms: Rooms, ana: Person, publish: Publish
) -> None:
    await publish(ana, "#sunset")
    settings = rooms.settings
    environment = os.environ | {
        "TINTYPE_HOME": str(settings.home),
        "TINTYPE_POSTGRES": " ".join(settings.postgres),
        "TINTYPE_REDIS": settings.redis,
        "TINTYPE_NATS": " ".join(settings.nats),
        "TINTYPE_NAMESPACE": settings.namespace,
        "TINTYPE_SHARD_COUNT": str(settings.shard_count),
    }
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tintype", "search", "rebuild", "--json"),
        env=environment,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )

    output, errors = await process.communicate()

    assert process.returncode == 0, errors.decode()
    done = json.loads(output)
    assert (done["people"], done["posts"], done["tags"], done["stray words"]) == (1, 1, 1, 0)
    account_id = AccountId(int(ana.account_id))
    indexed = await rooms.shards.owner(account_id).fetch_one(
        QUERIES.find_indexed, kind="people", subject=ana.account_id
    )
    assert indexed is not None


def _ignore_progress(stage: str, done: int, total: int) -> None:
    """Ignore the progress."""
