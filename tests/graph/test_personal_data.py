import pytest
from httpx import AsyncClient

from tests.graph.graph_state import deliver_all, losing, read_graph, set_private, set_status, sign_up_people
from tintype.base.ids import AccountId
from tintype.base.personal_data import PersonalDataHolder
from tintype.wiring import Rooms


async def entangle(rooms: Rooms, ana: AccountId, others: list[AccountId]) -> None:
    """Everything there can be between two people."""
    bo, cy, dee, eli = others
    graph = rooms.graph
    await set_private(rooms, cy, is_private=True)
    for one, other in [(ana, bo), (bo, ana), (dee, ana), (ana, cy), (bo, dee)]:
        await graph.follow(one, other)
    await set_private(rooms, ana, is_private=True)
    await graph.follow(cy, ana)
    await graph.block(ana, eli)
    await graph.set_close_friend(ana, bo)
    await graph.restrict(dee, ana)
    await graph.mute(bo, ana, posts=True)


@pytest.mark.slow
async def test_an_erased_account_is_gone_from_every_shard_and_count(
    rooms: Rooms, client: AsyncClient
) -> None:
    ana, *others = await sign_up_people(client, "ana", "bo", "cy", "dee", "eli")
    bo, _, dee, eli = others
    await entangle(rooms, ana, others)
    await set_status(rooms, ana, "leaving")
    room: PersonalDataHolder = rooms.graph.personal_data

    assert await room.count_left(ana) > 0
    while await room.erase(ana):
        pass
    assert await room.count_left(ana) == 0

    await deliver_all(rooms, reverse=True)
    while await room.erase(ana):
        pass
    world = await read_graph(rooms)
    world.check()
    assert world.truth == {(bo, dee): "active"}
    assert await room.count_left(ana) == 0
    assert (await rooms.graph.relations(eli, [bo]))[bo].is_blocked is False


@pytest.mark.slow
async def test_erasure_continues_where_it_was_interrupted(rooms: Rooms, client: AsyncClient) -> None:
    ana, *others = await sign_up_people(client, "ana", "bo", "cy", "dee", "eli")
    await entangle(rooms, ana, others)
    await set_status(rooms, ana, "leaving")

    with losing(rooms, lambda: True):
        await rooms.graph.personal_data.erase(ana)
    await deliver_all(rooms)
    while await rooms.graph.personal_data.erase(ana):
        pass

    assert await rooms.graph.personal_data.count_left(ana) == 0
    (await read_graph(rooms)).check()


async def test_an_export_names_everybody_the_account_has_a_relation_to(
    rooms: Rooms, client: AsyncClient
) -> None:
    ana, *others = await sign_up_people(client, "ana", "bo", "cy", "dee", "eli")
    await entangle(rooms, ana, others)

    found = [(each.file, each.content["username"]) async for each in rooms.graph.personal_data.export(ana)]

    files = [file for file, _ in found]
    assert files == sorted(
        files, key=["following.json", "followers.json", "blocks.json", "attitudes.json"].index
    )
    # Within a file entries come by account id, and ids of different shards have no promised order within a millisecond.
    assert sorted(found) == [
        ("attitudes.json", "bo"),
        ("blocks.json", "eli"),
        ("followers.json", "bo"),
        ("followers.json", "cy"),
        ("followers.json", "dee"),
        ("following.json", "bo"),
        ("following.json", "cy"),
    ]
