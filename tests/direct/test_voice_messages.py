"""Voice messages: uploaded as such, heard by those who are in the thread, and gone with the message."""

from pathlib import Path
from typing import Any

import av
from httpx import AsyncClient

from tests.direct.support import Device, code, open_pair
from tests.media.voices.sample_voices import make_voice_file
from tests.support import Person, photo

Friends = tuple[Person, Person, Person]


async def try_upload(person: Person, content: bytes, **fields: str) -> Any:
    files = {"file": ("voice.webm", content, "audio/webm")}
    return await person.call("POST", "/media/upload", files=files, data=fields)


async def upload(person: Person, folder: Path) -> str:
    answer = await try_upload(person, make_voice_file(folder / "voice").read_bytes(), kind="voice")
    assert answer.status_code == 201, answer.text
    return answer.json()["media_id"]


async def last(person: Person, thread_id: str) -> dict[str, Any]:
    answer = await person.call("GET", f"/direct/threads/{thread_id}/messages", params={"limit": 1})
    assert answer.status_code == 200, answer.text
    return answer.json()["messages"][0]


async def test_an_upload_shows_its_waveform_and_nothing_of_the_file_is_kept(
    friends: Friends, client: AsyncClient, tmp_path: Path
) -> None:
    ana, _, _ = friends
    content = make_voice_file(tmp_path / "voice").read_bytes()

    shown = (await try_upload(ana, content, kind="voice", keep_location="1")).json()

    assert (shown["type"], shown["state"], shown["urls"], shown["squares"]) == ("audio", "ready", {}, {})
    assert (len(shown["waveform"]), max(shown["waveform"])) == (64, 255)
    assert shown["removed"] == ["metadata", "original"]
    heard = await client.get(shown["voice_url"])
    assert (heard.status_code, heard.headers["content-type"]) == (200, "audio/mp4")
    assert (await ana.call("GET", f"/media/{shown['media_id']}/original")).status_code == 404


async def test_a_voice_message_is_heard_by_members_and_goes_with_the_message(
    friends: Friends, client: AsyncClient, tmp_path: Path
) -> None:
    ana, bo, _ = friends
    thread_id, device = await open_pair(ana, bo), Device(ana)
    media_id = await upload(ana, tmp_path)

    sent = await device.send(thread_id, "", media_id=media_id)

    shown = await last(bo, thread_id)
    voice = shown["voice"]
    assert (shown["kind"], shown["media"], voice["media_id"]) == ("voice", None, media_id)
    assert (len(voice["waveform"]), 1_900 < voice["duration_ms"] < 2_200) == (64, True)
    heard = await client.get(voice["url"])
    assert heard.status_code == 200
    part = await client.get(voice["url"], headers={"Range": "bytes=0-99"})
    assert (part.status_code, len(part.content)) == (206, 100)
    (tmp_path / "heard").write_bytes(heard.content)
    with av.open(str(tmp_path / "heard")) as opened:
        assert opened.streams.audio[0].codec_context.name == "aac"
    assert (await client.get("/media/" + voice["url"].split("/", 3)[3])).status_code == 404
    inbox = (await bo.call("GET", "/direct/threads")).json()["threads"]
    assert inbox[0]["last_message"]["kind"] == "voice"

    assert await device.put(thread_id, f"{sent['message_id']}/unsent") == 204
    assert (await client.get(voice["url"])).status_code == 404
    assert (await last(bo, thread_id))["voice"] is None


async def test_a_voice_is_no_post_no_story_and_no_avatar(friends: Friends, tmp_path: Path) -> None:
    ana, _, _ = friends
    media_id = await upload(ana, tmp_path)

    for method, path, body in (
        ("POST", "/posts", {"media_ids": [media_id]}),
        ("POST", "/stories", {"media_id": media_id}),
        ("PUT", "/accounts/me/avatar", {"media_id": media_id}),
    ):
        answer = await ana.call(method, path, json=body)
        assert 400 <= answer.status_code < 500, (path, answer.text)


async def test_what_is_no_recording_is_refused(friends: Friends, tmp_path: Path) -> None:
    ana, _, _ = friends
    content = make_voice_file(tmp_path / "voice").read_bytes()

    assert await code(try_upload(ana, content)) == "media_unsupported"
    assert await code(try_upload(ana, photo(), kind="voice")) == "voice_unsupported"
    assert await code(try_upload(ana, content[:60] + bytes(500), kind="voice")) == "voice_damaged"
    long = make_voice_file(tmp_path / "long", seconds=302, silence=True).read_bytes()
    assert await code(try_upload(ana, long, kind="voice")) == "voice_too_long"
    large = content[:100] + bytes(20 * 1024 * 1024)
    assert await code(try_upload(ana, large, kind="voice")) == "media_too_large"
