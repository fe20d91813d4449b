"""Signing out ends the push subscription of that session."""

from tests.notifications.push_service import Browser
from tests.notifications.support import id_of
from tests.support import PASSWORD, Person, eventually
from tintype.wiring import Rooms
from tintype.worker import Worker


async def test_signing_out_ends_the_subscription_of_that_session_alone(
    working: Worker, rooms: Rooms, ana: Person
) -> None:
    signed_in = await rooms.authentication.sign_in(ana.username, PASSWORD)
    elsewhere = Person(ana.client, ana.account_id, ana.username, signed_in.token)
    await Browser("https://push.example.com/here").subscribe(ana)
    await Browser("https://push.example.com/there").subscribe(elsewhere)
    listed = (await ana.call("GET", "/push/subscriptions")).json()["subscriptions"]
    assert [each["is_current"] for each in listed] == [True, False]

    assert (await elsewhere.call("DELETE", "/sessions/current")).status_code == 204

    async def is_one() -> bool:
        return [each.endpoint for each in await rooms.notifications.list_subscriptions(id_of(ana))] == [
            "https://push.example.com/here"
        ]

    await eventually(is_one, what="the subscription ends with its session")
