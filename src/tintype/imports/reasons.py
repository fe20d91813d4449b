"""Why something in an archive is not imported: each reason has a code, a promise to programs, and a text for people."""

from typing import NamedTuple, Protocol

import msgspec


class Coded(Protocol):
    """A reason, or an error that is one."""

    @property
    def code(self) -> str:
        """Stable, for programs."""
        ...


class Reason(NamedTuple):
    """A reason; `str` of it is the text."""

    code: str
    text: str

    def __str__(self) -> str:
        return self.text


class SkippedItem(msgspec.Struct, frozen=True):
    """Something in an archive that was not imported, and why."""

    name: str
    """Where it stands: the path of a file, or the path of a list and the number of the entry in it."""
    code: str
    reason: str


def skip(name: str, why: Coded) -> SkippedItem:
    """Name something that is not imported, for this reason or because of this error."""
    return SkippedItem(name, why.code, str(why))


FILE_MISSING = Reason("file_missing", "The file is not in the archive.")
FILE_NOT_BESIDE = Reason("file_missing", "The file is not in the archive. Put it beside the list.")
LINK = Reason("link", "It is a link or a special file.")
ENCRYPTED = Reason("encrypted", "It is encrypted with a password.")
ENTRY_UNKNOWN = Reason("entry_unknown", "The entry is not one that this version knows.")
ENTRY_EMPTY = Reason("entry_empty", "The entry names no photo or video.")
NO_POST = Reason("no_post", "The entry has no post in it.")
NO_MEDIA = Reason("no_media", "It has no photo or video.")
BOOST = Reason("boost", "It is somebody else's post that you boosted.")
DIRECT_MESSAGE = Reason("message", "It was a direct message.")
IN_MESSAGE = Reason("message", "It belongs to a message; messages are not imported.")
REPLY = Reason("reply", "It is a reply to somebody else's post.")
DELETED = Reason("deleted", "You had deleted it.")
PROFILE_PICTURE = Reason("profile_picture", "It was a profile picture, not a post.")
STORY_UNWANTED = Reason("story_unwanted", "It is a story, and stories were not wanted.")
SYSTEM_FILE = Reason("system_file", "The system's own file.")
LIVE_PHOTO = Reason("live_photo", "It is the moving part of a live photo of the same name.")
SIDECAR_ALONE = Reason("sidecar_alone", "It is no photo, and there is none that it describes.")
OTHER_LIST = Reason("other_list", "It is no post: of lists, only posts and people are read.")
UNNAMED = Reason("unnamed", "No post of the archive names it.")


def same_as(name: str) -> Reason:
    """The same item stands in the archive twice."""
    return Reason("same", f"It is the same as {name}.")


def not_reached(why: str) -> Reason:
    """The import had to stop before it."""
    return Reason("not_reached", f"Not reached: {why}")


def caption_cut(length: int) -> Reason:
    """The caption is longer than a post's may be."""
    return Reason("caption_cut", f"Its caption was cut to {length} characters.")


def alt_text_cut(length: int) -> Reason:
    """The alt text is longer than a photo's may be."""
    return Reason("alt_text_cut", f"Its alt text was cut to {length} characters.")


def split(pictures: int, posts: int) -> Reason:
    """There are more pictures than a post may have."""
    return Reason("split", f"It has {pictures} pictures and became {posts} posts.")
