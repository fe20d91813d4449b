from httpx import AsyncClient

from tests.graph.world import deliver_all, look, losing, set_private, set_status, settle_people
from tintype.base.belongings import Belongings
from tintype.base.ids import AccountId
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
    await graph.blocks.block(ana, eli)
    await graph.attitudes.befriend(ana, bo)
    await graph.attitudes.restrict(dee, ana)
    await graph.attitudes.mute(bo, ana, posts=True)


async def test_who_leaves_is_gone_from_every_shard_and_from_every_count(
    rooms: Rooms, client: AsyncClient
) -> None:
    ana, *others = await settle_people(client, "ana", "bo", "cy", "dee", "eli")
    bo, _, dee, eli = others
    await entangle(rooms, ana, others)
    await set_status(rooms, ana, "leaving")
    room: Belongings = rooms.graph

    assert await room.count_left(ana) > 0
    while await room.erase(ana):
        pass
    assert await room.count_left(ana) == 0

    await deliver_all(rooms, reverse=True)
    while await room.erase(ana):
        pass
    world = await look(rooms)
    world.check()
    assert world.truth == {(bo, dee): "active"}
    assert await room.count_left(ana) == 0
    assert (await rooms.graph.relations(eli, [bo]))[bo].is_blocked is False


async def test_erasing_goes_on_where_it_was_interrupted(rooms: Rooms, client: AsyncClient) -> None:
    ana, *others = await settle_people(client, "ana", "bo", "cy", "dee", "eli")
    await entangle(rooms, ana, others)
    await set_status(rooms, ana, "leaving")

    with losing(rooms, lambda: True):
        await rooms.graph.erase(ana)
    await deliver_all(rooms)
    while await rooms.graph.erase(ana):
        pass

    assert await rooms.graph.count_left(ana) == 0
    (await look(rooms)).check()


async def test_an_export_names_everybody_there_is_something_with(rooms: Rooms, client: AsyncClient) -> None:
    ana, *others = await settle_people(client, "ana", "bo", "cy", "dee", "eli")
    await entangle(rooms, ana, others)

    found = [(each.file, each.content["username"]) async for each in rooms.graph.export(ana)]

    assert found == [
        ("following.json", "bo"),
        ("following.json", "cy"),
        ("followers.json", "bo"),
        ("followers.json", "dee"),
        ("followers.json", "cy"),
        ("blocks.json", "eli"),
        ("attitudes.json", "bo"),
    ]
