"""Files that not everybody may open need a signature, which works for a while."""

import time

import pytest

from tests.media.conftest import MakeInstallation, visiting
from tests.support import Person, photo
from tintype.media import Audience, MediaUrls
from tintype.media.serving import signed_urls
from tintype.wiring import Rooms


async def go_private(person: Person, *, is_private: bool = True) -> None:
    answer = await person.call("PATCH", "/accounts/me", json={"is_private": is_private})
    assert answer.status_code == 200, answer.text


async def test_going_private_closes_public_urls_at_once_and_signed_ones_open(
    eve: Person, installation: Rooms
) -> None:
    open_address = (await eve.publish())["media"][0]["urls"]["1080"]
    before = await eve.client.get(open_address)

    await go_private(eve)
    after = await eve.client.get(open_address)
    signed = (await eve.publish())["media"][0]
    opened = [
        await eve.client.get(address) for address in [*signed["urls"].values(), *signed["squares"].values()]
    ]

    assert (before.status_code, after.status_code) == (200, 404)
    assert after.json()["code"] == "media_not_found"
    assert {answer.status_code for answer in opened} == {200}
    kept = opened[0].headers["cache-control"]
    assert kept.startswith("private, max-age=")
    assert 0 < int(kept.removeprefix("private, max-age=")) <= installation.settings.media_url_life_s


async def test_going_public_opens_them_again(eve: Person, installation: Rooms) -> None:
    address = (await eve.publish())["media"][0]["urls"]["1080"]
    await go_private(eve)
    signed = (await eve.publish())["media"][0]["urls"]["1080"]

    await go_private(eve, is_private=False)

    assert [(await eve.client.get(each)).status_code for each in (address, signed)] == [200, 200]


async def test_a_signature_opens_one_folder_until_it_expires(
    eve: Person, installation: Rooms, monkeypatch: pytest.MonkeyPatch
) -> None:
    await go_private(eve)
    one, other = [(await eve.upload()).json()["urls"]["1080"] for _ in range(2)]
    signature, folder = one.split("/")[2], "/".join(other.split("/")[3:])
    forged = [
        f"/media/{signature}/{folder}",
        one.replace("~", "~1"),
        one.replace(signature, signature[:-1] + ("A" if signature[-1] != "A" else "B")),
        one.replace(signature, "~9999999999." + signature.split(".")[1]),
    ]
    now = time.time()

    refused = [(await eve.client.get(each)).status_code for each in forged]
    before = await eve.client.get(one)
    monkeypatch.setattr(signed_urls.time, "time", lambda: now + installation.settings.media_url_life_s + 1)
    after = await eve.client.get(one)

    assert refused == [404] * 4
    assert (before.status_code, after.status_code) == (200, 404)


def test_a_signed_url_stays_the_same_for_half_its_life(monkeypatch: pytest.MonkeyPatch) -> None:
    made = MediaUrls(b"key", life_s=3600)
    seen: list[tuple[int, str]] = []
    for second in range(1_800_000, 1_800_000 + 7200, 60):
        monkeypatch.setattr(signed_urls.time, "time", lambda second=second: float(second))
        seen.append((second, made.base_url("1/2-x", audience="viewers")))

    ends = {second: int(address.split("~")[1].split(".")[0]) for second, address in seen}
    assert len({address for _, address in seen}) == 4
    assert all(1800 <= end - second <= 3600 for second, end in ends.items())


def test_a_signature_is_for_one_audience_and_one_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    made = MediaUrls(b"key", life_s=3600)
    audiences: tuple[Audience, ...] = ("viewers", "owner", "moderators")
    signed = {each: made.base_url("1/2-x", audience=each).split("/")[2] for each in audiences}

    for audience, part in signed.items():
        ends, signature = part.removeprefix("~").split(".")
        assert made.find_audience("1/2-x", int(ends), signature) == audience
        assert made.find_audience("1/3-x", int(ends), signature) is None
        assert made.find_audience("1/2-x", int(ends) + 1, signature) is None
        monkeypatch.setattr(signed_urls.time, "time", lambda ends=ends: float(ends))
        assert made.find_audience("1/2-x", int(ends), signature) is None
        monkeypatch.undo()
    assert len(set(signed.values())) == 3


async def test_a_stale_access_record_expires(make_installation: MakeInstallation) -> None:
    """Whatever goes wrong, an access record is not remembered for longer than a minute; that of a story, 2 seconds."""
    installation = make_installation()
    async with visiting(installation, "eve") as eve:
        post = (await eve.publish())["media"][0]
        sent = {"file": ("photo.jpg", photo(), "image/jpeg")}
        media = (await eve.call("POST", "/media/upload", files=sent, data={"kind": "story"})).json()
        story = (await eve.call("POST", "/stories", json={"media_id": media["media_id"]})).json()["media"]
        await installation.redis.flushdb()
        for each in (post, story):
            assert (await eve.client.get(each["url"])).status_code == 200
        prefix = f"{installation.settings.namespace}:media:access:"
        lives = [await installation.redis.pttl(f"{prefix}{each['media_id']}") for each in (post, story)]

    assert 0 < lives[0] <= 60_000
    assert 0 < lives[1] <= 2_000
