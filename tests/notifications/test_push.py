"""Web Push against a local push service, which decrypts what it receives as a browser would."""

import asyncio
import base64
import ipaddress
import json
import stat
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from httpx import AsyncClient

from tests.notifications.push_service import Browser, PushService, running_push_service
from tests.notifications.support import handle, id_of, like, list_notifications
from tests.support import Person, eventually, join, on_server
from tintype.accounts import SessionsEnded
from tintype.base.settings import Settings
from tintype.notifications import (
    NotificationTold,
    PushDue,
    PushSender,
    QuietHours,
    Subscription,
    SubscriptionInvalid,
)
from tintype.notifications.preferences import is_quiet
from tintype.notifications.push_endpoints import is_public, resolve
from tintype.notifications.push_sender import PushFailed
from tintype.notifications.vapid import VapidKey
from tintype.wiring import Rooms
from tintype.worker import Worker


@pytest.fixture
async def service(rooms: Rooms, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[PushService]:
    monkeypatch.setattr(rooms.notifications.push_sender, "may_be_internal", True)
    async with running_push_service() as running:
        yield running
        await rooms.notifications.close()


async def test_a_push_says_who_did_what_and_no_more(
    working: Worker, service: PushService, ana: Person, bo: Person
) -> None:
    browser = service.browser()
    assert (await browser.subscribe(ana)).status_code == 201

    await bo.call("PUT", f"/accounts/{ana.account_id}/follow")

    await _wait_for_received(service, 1)
    headers, body = service.received[0]
    (line,) = await list_notifications(ana)
    assert browser.read(body) == {
        "notification_id": line["notification_id"],
        "kind": "follow",
        "username": "bo",
        "actor_count": 1,
        "post_id": None,
        "unread_count": 1,
    }
    assert (headers["content-encoding"], headers["urgency"], headers["ttl"]) == (
        "aes128gcm",
        "normal",
        "86400",
    )
    token = headers["authorization"].split("t=")[1].split(",")[0].split(".")[1]
    claims = json.loads(base64.urlsafe_b64decode(token + "=="))
    assert claims["aud"] == service.url


async def test_a_burst_is_pushed_once(
    rooms: Rooms, service: PushService, client: AsyncClient, ana: Person
) -> None:
    post, browser = await ana.publish(), service.browser()
    await browser.subscribe(ana)

    for number in range(4):
        await handle(rooms, like(post, ana, await join(client, f"fan{number}"), 1))
    told = await _told(rooms)
    assert len(told) == 4
    await handle(rooms, *told)
    await handle(rooms, *await _due(rooms))

    assert [browser.read(body)["actor_count"] for _, body in service.received] == [4]
    await handle(rooms, told[0])
    assert len(await _due(rooms)) == 2  # the same act again is a retry, which may ring


async def test_a_subscription_that_the_push_service_ended_is_deleted(
    rooms: Rooms, service: PushService, ana: Person, bo: Person
) -> None:
    await service.browser().subscribe(ana)
    service.answers = [410]

    await _like_and_push(rooms, ana, bo)

    assert (await ana.call("GET", "/push/subscriptions")).json() == {"subscriptions": []}


@pytest.mark.slow
async def test_a_failed_push_is_retried(
    working: Worker, service: PushService, ana: Person, bo: Person
) -> None:
    await service.browser().subscribe(ana)
    service.answers = [503, 429]

    await bo.call("PUT", f"/accounts/{ana.account_id}/follow")

    await _wait_for_received(service, 1)
    assert service.answers == []


async def test_read_retracted_and_hidden_notifications_are_not_pushed(
    rooms: Rooms, service: PushService, ana: Person, bo: Person
) -> None:
    await service.browser().subscribe(ana)
    post = await ana.publish()
    await handle(rooms, like(post, ana, bo, 1))
    await handle(rooms, *await _told(rooms))
    due = await _due(rooms)

    await ana.call("POST", "/notifications/read", json={})
    await handle(rooms, *due)
    await handle(rooms, like(post, ana, bo, 2, is_liked=False))
    await handle(rooms, *due)

    assert (len(due), service.received) == (1, [])


async def test_a_kind_that_is_turned_off_is_not_pushed_or_not_notified(
    rooms: Rooms, service: PushService, ana: Person, bo: Person
) -> None:
    await service.browser().subscribe(ana)
    await ana.call(
        "PUT", "/notifications/settings/kinds/like", json={"audience": "everyone", "is_pushed": False}
    )
    await _like_and_push(rooms, ana, bo)
    assert (len(await list_notifications(ana)), service.received) == (1, [])

    await ana.call(
        "PUT", "/notifications/settings/kinds/like", json={"audience": "following", "is_pushed": True}
    )
    await handle(rooms, like(await ana.publish(), ana, bo, 1))
    assert len(await list_notifications(ana)) == 1

    await ana.call("PUT", f"/accounts/{bo.account_id}/follow")
    await handle(rooms, like(await ana.publish(), ana, bo, 1))
    assert len(await list_notifications(ana)) == 2


@pytest.mark.parametrize("kind", ["warning", "planet", "like%00"])
async def test_only_configurable_kinds_can_be_configured(ana: Person, kind: str) -> None:
    body = {"audience": "off", "is_pushed": False}

    answer = await ana.call("PUT", f"/notifications/settings/kinds/{kind}", json=body)

    assert answer.status_code == 400, answer.text


async def test_a_subscription_ends_with_its_session(rooms: Rooms, service: PushService, ana: Person) -> None:
    await service.browser().subscribe(ana)

    await handle(rooms, SessionsEnded(id_of(ana), ("another",)))
    assert len((await ana.call("GET", "/push/subscriptions")).json()["subscriptions"]) == 1
    await handle(rooms, SessionsEnded(id_of(ana)))

    assert (await ana.call("GET", "/push/subscriptions")).json() == {"subscriptions": []}


async def test_subscriptions_are_listed_renewed_and_removed_by_their_owner_alone(
    rooms: Rooms, service: PushService, ana: Person, bo: Person
) -> None:
    browser = service.browser()
    first = (await browser.subscribe(ana)).json()
    again = (await browser.subscribe(ana)).json()
    path = f"/push/subscriptions/{first['subscription_id']}"

    assert first["subscription_id"] == again["subscription_id"]
    assert (await ana.call("GET", "/push/subscriptions")).json()["subscriptions"] == [again]
    assert again["is_current"]
    assert (await bo.call("DELETE", path)).status_code == 404
    assert (await ana.call("DELETE", path)).status_code == 204
    assert (await ana.call("DELETE", path)).json()["code"] == "subscription_not_found"


async def test_an_account_has_at_most_twenty_subscriptions(
    rooms: Rooms, service: PushService, ana: Person
) -> None:
    for _ in range(20):
        assert (await service.browser().subscribe(ana)).status_code == 201

    answer = await service.browser().subscribe(ana)
    assert (answer.status_code, answer.json()["code"]) == (409, "too_many_subscriptions")


@pytest.mark.parametrize(
    "endpoint",
    [
        "http://push.example.com/x",
        "https://127.0.0.1/x",
        "https://localhost/x",
        "https://[::1]/x",
        "https://[::ffff:10.0.0.1]/x",
        "https://10.1.2.3/x",
        "https://169.254.169.254/latest",
        "https://0x7f000001/x",
        "https://2130706433/x",
        "https://push.internal/x",
        "https://push.example.com:8443/x",
        "https://user:word@push.example.com/x",
        "https://push.example.com\\@10.0.0.1/x",
        "https://push.example.com:99999/x",
        "ftp://push.example.com/x",
        "https:///x",
        "https://push.exämple.com/x",
        "https://push.example.com/" + "x" * 1000,
    ],
)
async def test_endpoints_in_internal_networks_are_refused(ana: Person, endpoint: str) -> None:
    answer = await Browser(endpoint).subscribe(ana)

    assert (answer.status_code, answer.json()["code"]) == (400, "subscription_invalid")


async def test_a_name_that_resolves_to_an_internal_address_is_never_connected_to(
    rooms: Rooms, service: PushService, ana: Person, bo: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    await service.browser().subscribe(ana)
    monkeypatch.setattr(rooms.notifications.push_sender, "may_be_internal", False)

    await _like_and_push(rooms, ana, bo)

    assert service.received == []
    with pytest.raises(SubscriptionInvalid):
        await resolve("https://localhost.localdomain.localhost/x")


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("93.184.216.34", True),
        ("2606:2800:220:1:248:1893:25c8:1946", True),
        ("100.64.0.1", False),
        ("192.0.2.1", False),
        ("224.0.0.1", False),
        ("0.0.0.0", False),  # noqa: S104 - an address to refuse
        ("fe80::1", False),
        ("fd00::1", False),
        ("::ffff:127.0.0.1", False),
        ("64:ff9b::7f00:1", False),
        ("2002:7f00:1::", False),
    ],
)
def test_public_addresses_are_recognized(address: str, expected: bool) -> None:
    assert is_public(ipaddress.ip_address(address)) is expected


@pytest.mark.parametrize("keys", [{"p256dh": "AAAA", "auth": "AAAA"}, {"p256dh": "B" * 87, "auth": "A" * 22}])
async def test_invalid_subscription_keys_are_refused(ana: Person, keys: dict[str, str]) -> None:
    body = {"endpoint": "https://push.example.com/x", "keys": keys}

    answer = await ana.call("POST", "/push/subscriptions", json=body)

    assert (answer.status_code, answer.json()["code"]) == (400, "subscription_invalid")


async def test_the_connection_goes_to_the_checked_address_and_the_certificate_is_checked_by_name(
    rooms: Rooms, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running_push_service(tls_name="push.example.com", folder=tmp_path) as service:
        port = int(service.url.rpartition(":")[2])
        _resolve_to_localhost(monkeypatch)
        sender = PushSender(rooms.notifications.vapid_key, may_be_internal=True, trust=service.trust)
        good, bad = (Browser(f"https://{name}.example.com:{port}/x") for name in ("push", "other"))

        assert await sender.send(_subscription(good), {"kind": "like"}, topic="t", urgency="low")
        with pytest.raises(PushFailed):
            await sender.send(_subscription(bad), {"kind": "like"}, topic="t", urgency="low")

        assert [good.read(body) for _, body in service.received] == [{"kind": "like"}]
        assert service.received[0][0]["host"] == f"push.example.com:{port}"
        await sender.close()


async def test_an_unreachable_push_service_is_a_failure_that_keeps_the_subscription(
    rooms: Rooms, service: PushService, ana: Person, bo: Person
) -> None:
    await Browser("http://127.0.0.1:1/x").subscribe(ana)

    with pytest.raises(PushFailed):
        await _like_and_push(rooms, ana, bo)

    assert len((await ana.call("GET", "/push/subscriptions")).json()["subscriptions"]) == 1


def test_the_vapid_key_is_made_once_and_readable_by_its_owner_alone(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path)

    first, second = VapidKey(settings).public_key, VapidKey(settings).public_key

    assert first == second
    assert len(base64.urlsafe_b64decode(first + "=")) == 65
    assert stat.S_IMODE((tmp_path / "secrets" / "vapid").stat().st_mode) == 0o600
    assert VapidKey(Settings(home=tmp_path, vapid_key="A" * 42 + "8")).public_key != first


async def test_the_public_key_to_subscribe_with_is_served(rooms: Rooms, ana: Person) -> None:
    answer = await ana.call("GET", "/push/key")

    assert answer.json() == {"public_key": rooms.notifications.vapid_key.public_key}


@pytest.mark.parametrize(
    ("hours", "utc_hour", "expected"),
    [
        ((22 * 60, 7 * 60), 23, True),
        ((22 * 60, 7 * 60), 6, True),
        ((22 * 60, 7 * 60), 12, False),
        ((60, 120), 1, True),
    ],
)
def test_quiet_hours_may_span_midnight(hours: tuple[int, int], utc_hour: int, expected: bool) -> None:
    now = datetime(2026, 1, 5, utc_hour, 30, tzinfo=UTC)

    assert is_quiet(QuietHours(*hours, "UTC"), now) is expected


def test_quiet_hours_follow_local_time() -> None:
    quiet = QuietHours(0, 6 * 60, "Asia/Tokyo")

    assert is_quiet(quiet, datetime(2026, 1, 5, 18, 0, tzinfo=UTC))
    assert not is_quiet(quiet, datetime(2026, 1, 5, 3, 0, tzinfo=UTC))


async def test_in_quiet_hours_the_list_grows_and_nothing_is_pushed(
    rooms: Rooms, service: PushService, ana: Person, bo: Person
) -> None:
    await service.browser().subscribe(ana)
    now = datetime.now(UTC)
    minute = now.hour * 60 + now.minute
    quiet = {"begin": (minute - 60) % 1440, "end": (minute + 60) % 1440, "time_zone": "UTC"}
    assert (await ana.call("PUT", "/notifications/settings/quiet-hours", json=quiet)).status_code == 204

    await _like_and_push(rooms, ana, bo)
    assert (len(await list_notifications(ana)), service.received) == (1, [])

    assert (await ana.call("GET", "/notifications/settings")).json()["quiet_hours"] == quiet
    await ana.call("DELETE", "/notifications/settings/quiet-hours")
    await _like_and_push(rooms, ana, bo)
    assert service.received != []


async def _like_and_push(rooms: Rooms, ana: Person, bo: Person) -> None:
    await handle(rooms, like(await ana.publish(), ana, bo, 1))
    await handle(rooms, *await _told(rooms))
    await handle(rooms, *await _due(rooms))


async def _told(rooms: Rooms) -> list[NotificationTold]:
    return [NotificationTold.decode(payload) for payload in await _outbox(rooms, "notification_told")]


async def _due(rooms: Rooms) -> list[PushDue]:
    return [PushDue.decode(payload) for payload in await _outbox(rooms, "push_due")]


async def _outbox(rooms: Rooms, event: str) -> list[bytes]:
    sql = f"SELECT payload FROM common.outbox WHERE event = '{event}' ORDER BY id"
    return [row["payload"] for dsn in rooms.settings.postgres_admin for row in await on_server(dsn, sql)]


def _resolve_to_localhost(monkeypatch: pytest.MonkeyPatch) -> None:
    """Resolve every host name to 127.0.0.1."""
    loop = asyncio.get_running_loop()
    resolve_really = loop.getaddrinfo

    async def resolve_to_localhost(_host: str, port: int, **options: Any) -> Any:
        return await resolve_really("127.0.0.1", port, **options)

    monkeypatch.setattr(loop, "getaddrinfo", resolve_to_localhost, raising=False)


def _subscription(browser: Browser) -> Subscription:
    keys = browser.subscription()["keys"]
    point, secret = (base64.urlsafe_b64decode(keys[name] + "==") for name in ("p256dh", "auth"))
    return Subscription(1, "session", browser.endpoint, point, secret, "")


async def _wait_for_received(service: PushService, count: int) -> None:
    async def is_so() -> bool:
        return len(service.received) == count

    await eventually(is_so, what=f"{count} messages reach the push service")
