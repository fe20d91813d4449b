"""The media plane: authors whose content is in one state each, the files of it, and who may open them.

`opens` is the rule, written down from what is promised; nothing in it was read off the server.
"""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from httpx import AsyncClient

from tests.api.access.scenario import account_id, ok
from tests.support import Person, join, photo, set_status
from tintype.base.ids import PostId
from tintype.stories import StoryId
from tintype.wiring import Rooms

Privacy = Literal["public", "private"]
State = str
Content = str
Caller = str
Link = Literal["plain", "before", "now"]
"""The path without a signature; the URL that the API gave to the caller before the state changed, and after it."""

STATES: tuple[State, ...] = (
    *("as it is", "archived", "deleted", "hidden", "removed by a moderator"),
    *("suspended", "deactivated", "leaving", "story removed", "story ended", "everything discarded"),
)
INACTIVE = {"suspended", "deactivated", "leaving"}
GONE: Mapping[Content, set[State]] = {
    "post": INACTIVE | {"deleted", "removed by a moderator"},
    "post of an avatar upload": INACTIVE | {"deleted", "removed by a moderator"},
    "avatar": INACTIVE | {"everything discarded"},
    "story": INACTIVE | {"removed by a moderator", "story removed", "story ended"},
    "close friends' story": INACTIVE | {"removed by a moderator", "story removed", "story ended"},
    "highlight": INACTIVE | {"removed by a moderator", "everything discarded"},
    "upload": INACTIVE | {"everything discarded"},
}
"""In which states nobody may open the files, the owner included."""
WITHHELD: Mapping[Content, set[State]] = {
    "post": {"archived", "hidden"},
    "post of an avatar upload": {"archived", "hidden"},
    "story": {"hidden"},
    "close friends' story": {"hidden"},
    "highlight": {"hidden"},
}
"""In which states the owner alone may open the files."""
RESTRICTED = {"close friends' story", "upload"}
"""What nobody opens without a signature, also of a public account."""
AS_OWNER = {"owner", "owner's program"}
CALLERS: tuple[Caller, ...] = (
    *("anonymous", "owner", "owner's program", "owner's program without read"),
    *("follower", "close friend", "stranger", "blocked", "blocker", "moderator"),
)
MADE_FILES = (
    "1440.jpg",
    "320.webp",
    "320.avif",
    "video.mp4",
    "index.m3u8",
    "seg_0.m4s",
    "seg_0.ts",
)
"""A large size, other formats, and what a video has: the file itself, its playlist and its segments."""
POST_FILES = ("320.jpg", "320s.jpg", "original", *MADE_FILES)
"""Sizes, squares, the download that its author allows, and what was made of it later."""


def opens(content: Content, privacy: Privacy, state: State, caller: Caller, link: Link) -> bool:
    """Whether a caller may open a file by a link.

    A signed link opens for whoever holds it, until it expires; so those who are blocked now open what they were given
    before, as long as others may open it at all.
    """
    if state in GONE[content]:
        return False
    if caller in AS_OWNER:
        return True
    if state in WITHHELD.get(content, ()):
        return False
    needs_signature = content != "avatar" and (privacy == "private" or content in RESTRICTED)
    return link != "plain" or not needs_signature


def is_given(content: Content, privacy: Privacy, state: State, caller: Caller) -> bool:
    """Whether the API gives a caller a link: to those who may see the content."""
    if state in GONE[content]:
        return False
    if caller in AS_OWNER:
        return True
    if content == "upload" or state in WITHHELD.get(content, ()):
        return False
    if caller in {"blocked", "blocker", "owner's program without read"}:
        return False
    if content == "close friends' story":
        return caller == "close friend"
    return privacy == "public" or caller in {"follower", "close friend"}


@dataclass
class Author:
    """Somebody with one of each kind of content."""

    person: Person
    privacy: Privacy
    programs: dict[Caller, str]
    """API tokens of the author's."""
    shown_at: dict[Content, str] = field(default_factory=dict[Content, str])
    """The route that shows each content."""
    folders: dict[Content, str] = field(default_factory=dict[Content, str])
    before: dict[tuple[Content, Caller], str] = field(default_factory=dict[tuple[Content, Caller], str])
    ids: dict[str, str] = field(default_factory=dict[str, str])


@dataclass
class MediaPlane:
    """The callers, and how they ask."""

    client: AsyncClient
    rooms: Rooms
    callers: dict[Caller, Person]

    def headers(self, author: Author, caller: Caller) -> dict[str, str]:
        """The credentials of a caller."""
        if caller == "anonymous":
            return {}
        if caller in author.programs:
            return {"Authorization": f"Bearer {author.programs[caller]}"}
        person = author.person if caller == "owner" else self.callers[caller]
        return {"Authorization": f"Bearer {person.token}"}

    async def get_link(self, author: Author, content: Content, caller: Caller) -> str | None:
        """The URL of a small size that the API gives to a caller; None where it gives none."""
        path = author.shown_at.get(content)
        if path is None:
            return None
        self.client.cookies.clear()
        answer = await self.client.get(f"/api/v1{path}", headers=self.headers(author, caller))
        if answer.status_code != 200:
            assert answer.status_code in {401, 403, 404}, answer.text
            return None
        return _small_url(answer.json())

    async def status(self, author: Author, caller: Caller, method: str, url: str, **headers: str) -> int:
        """The status of a request for a file."""
        self.client.cookies.clear()
        asked = self.headers(author, caller) | headers
        return (await self.client.request(method, url, headers=asked)).status_code


async def open_plane(client: AsyncClient, rooms: Rooms) -> MediaPlane:
    """Sign the callers up."""
    names = ("follower", "close friend", "stranger", "blocked", "blocker", "moderator")
    people = {name: await join(client, f"plane_{name.replace(' ', '_')}") for name in names}
    await rooms.accounts.set_role(account_id(people["moderator"]), "moderator")
    return MediaPlane(client, rooms, people)


async def make_author(plane: MediaPlane, privacy: Privacy) -> Author:
    """An author with one of each content, whose links were given to all who may have them."""
    rooms, person = plane.rooms, await join(plane.client, f"author_{secrets.token_hex(6)}")
    await ok(
        person.call(
            "PATCH", "/accounts/me", json={"is_private": privacy == "private", "allows_downloads": True}
        )
    )
    author = Author(person, privacy, await _programs(rooms, person))
    for name in ("follower", "close friend", "blocked", "blocker"):
        await ok(plane.callers[name].call("PUT", f"/accounts/{person.account_id}/follow"))
        if privacy == "private":
            await ok(person.call("PUT", f"/follow-requests/{plane.callers[name].account_id}"))
    await ok(person.call("PUT", f"/close-friends/{plane.callers['close friend'].account_id}"))
    await _publish(author)
    await _add_converted_files(rooms, author.folders["post"])
    for content in author.shown_at:
        for caller in CALLERS:
            if link := await plane.get_link(author, content, caller):
                author.before[content, caller] = link
    await ok(person.call("PUT", f"/blocks/{plane.callers['blocked'].account_id}"))
    await ok(plane.callers["blocker"].call("PUT", f"/blocks/{person.account_id}"))
    return author


async def change_state(plane: MediaPlane, author: Author, state: State) -> None:
    """Bring the author's content into a state. "story ended" is brought about by the caller, who moves the clocks."""
    if state in INACTIVE:
        await set_status(plane.rooms, account_id(author.person), state)
    elif state == "everything discarded":
        await _discard(author)
    else:
        await _change_posts(plane, author, state)
        await _change_stories(plane, author, state)


async def _change_posts(plane: MediaPlane, author: Author, state: State) -> None:
    posts, moderator = plane.rooms.posts, account_id(plane.callers["moderator"])
    for name in ("post", "post of an avatar upload"):
        post_id = PostId(int(author.ids[name]))
        if state == "archived":
            await ok(author.person.call("PUT", f"/posts/{post_id}/archive"))
        elif state == "deleted":
            await ok(author.person.call("DELETE", f"/posts/{post_id}"))
        elif state == "hidden":
            await posts.hide(post_id, moderator)
        elif state == "removed by a moderator":
            await posts.remove(post_id, moderator)


async def _change_stories(plane: MediaPlane, author: Author, state: State) -> None:
    for name in ("story", "close friends' story", "kept"):
        story_id = StoryId(int(author.ids[name]))
        if state == "story removed":
            await ok(author.person.call("DELETE", f"/stories/{story_id}"))
        elif state == "hidden":
            await plane.rooms.stories.hide(story_id)
        elif state == "removed by a moderator":
            await plane.rooms.stories.delete_with_copies(story_id)


async def _discard(author: Author) -> None:
    """The author removes the avatar, the upload, and the highlight with its story."""
    for path in (
        "/accounts/me/avatar",
        f"/media/{author.ids['upload']}",
        f"/highlights/{author.ids['highlight']}",
        f"/stories/{author.ids['kept']}",
    ):
        await ok(author.person.call("DELETE", path))


def files_of(content: Content) -> tuple[str, ...]:
    """The names of the files that are asked for: all kinds of a post's, one of the others."""
    return POST_FILES if content == "post" else ("320.jpg",)


async def _publish(author: Author) -> None:
    person = author.person
    for content, kind in (("post", "post"), ("post of an avatar upload", "avatar")):
        sent = await _upload(person, kind)
        post = await ok(person.call("POST", "/posts", json={"media_ids": [sent["media_id"]]}))
        _record(author, content, post["post_id"], f"/posts/{post['post_id']}", sent)
        author.ids[f"{content} media"] = sent["media_id"]
    picture = await _upload(person, "avatar")
    await ok(person.call("PUT", "/accounts/me/avatar", json={"media_id": picture["media_id"]}))
    author.folders["avatar"] = _folder(picture)
    for content, audience in (
        ("story", "everyone"),
        ("close friends' story", "close_friends"),
        ("kept", "everyone"),
    ):
        sent = await _upload(person, "story")
        body = {"media_id": sent["media_id"], "audience": audience}
        story = await ok(person.call("POST", "/stories", json=body))
        author.ids[content] = story["story_id"]
        if content != "kept":
            _record(author, content, story["story_id"], f"/stories/{story['story_id']}", sent)
    kept = {"title": "Kept", "story_ids": [author.ids["kept"]]}
    highlight = await ok(person.call("POST", "/highlights", json=kept))
    _record(author, "highlight", highlight["highlight_id"], f"/highlights/{highlight['highlight_id']}", sent)
    waiting = await _upload(person, "post")
    _record(author, "upload", waiting["media_id"], f"/media/{waiting['media_id']}", waiting)


def _record(author: Author, content: Content, each: str, path: str, sent: dict[str, Any]) -> None:
    author.ids[content], author.shown_at[content], author.folders[content] = each, path, _folder(sent)


async def _upload(person: Person, kind: str) -> dict[str, Any]:
    sent = {"file": ("photo.jpg", photo(), "image/jpeg")}
    return await ok(person.call("POST", "/media/upload", files=sent, data={"kind": kind}))


async def _add_converted_files(rooms: Rooms, folder: str) -> None:
    """What conversions would have written: serving depends on names alone."""
    for name in MADE_FILES:
        await rooms.media.storage.put(f"{folder}/{name}", b"bytes of a file")


async def _programs(rooms: Rooms, person: Person) -> dict[Caller, str]:
    made: dict[Caller, str] = {}
    for name, scopes in (("owner's program", {"read"}), ("owner's program without read", {"posts:write"})):
        _, made[name] = await rooms.authentication.create_api_token(
            account_id(person), "plane", scopes=scopes, known={"read", "posts:write"}, days=1
        )
    return made


def _folder(sent: dict[str, Any]) -> str:
    return "/".join(sent["urls"]["320"].split("/")[-3:-1])


def _small_url(body: dict[str, Any]) -> str:
    """The URL of a small size in a post, a story, the first item of a highlight, or an upload."""
    shown: dict[str, Any] = body["items"][0] if "items" in body else body
    media: Any = shown.get("media", shown)
    first: Any = media if "urls" in media else media[0]
    return str(first["urls"]["320"])
