"""The JSON of a page of the feed, spliced from pieces that were made once.

Nearly all of a post's JSON is the same for everybody: building it anew for each reader was most of the work of a feed.
Here it is made by `show_post`, cut where the reader's part begins, and kept as long as the post, its author and the
people in it stay the same; the bytes are those that `PostsView` would have given. The pieces carry hashes of
themselves, so the ETag of a page costs a hash of a few hundred bytes.
"""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import msgspec

from shardwright.ids import Layout
from tintype.accounts import Account
from tintype.api.views import show_post
from tintype.base.ids import AccountId, PostId
from tintype.feed import Entry
from tintype.media import Addresses
from tintype.posts import Post

MOST_KEPT = 20_000
MOST_PAGES = 1_000
"""Of some 25 KB each."""
TAG_BYTES = 12
LIKES, COMMENTS, CHOICES, FLAGS = (
    b',"like_count":',
    b',"comment_count":',
    b',"comments_enabled":',
    b',"viewer_has_liked":',
)
"""Between quotes JSON escapes quotes, so no caption can hold these."""


@dataclass(slots=True)
class Pieces:
    """What is the same for every reader of a post, and of what it was made."""

    card: Post
    author: Account
    author_shown: tuple[object, ...]
    others: tuple[AccountId, ...]
    names: tuple[str | None, ...]
    tagged: frozenset[AccountId]
    ends: int
    """When its signed addresses change; zero where none is signed."""
    body: bytes
    """The JSON, to be filled with the number of likes, the number of comments, and the reader's part."""
    mark: bytes
    """A hash of it, to be filled with the same."""


@dataclass(slots=True, frozen=True)
class Page:
    """The last page of a reader, and of what it was made."""

    entries: Sequence[Entry]
    cursor: str | None
    ends: int
    body: bytes
    etag: str


class Splicer:
    """Makes pages out of entries; one for each process."""

    def __init__(self, addresses: Addresses) -> None:
        self._addresses = addresses
        self._kept: dict[PostId, Pieces] = {}
        self._pages: dict[AccountId, Page] = {}

    def splice(
        self, entries: Sequence[Entry], layout: Layout, *, viewer: AccountId, next_cursor: str | None
    ) -> tuple[bytes, str]:
        """The page and its ETag. The very same entries make the very same page again."""
        ends = self._addresses.ends()
        kept = self._pages.get(viewer)
        if kept is None or kept.entries is not entries or kept.ends != ends or kept.cursor != next_cursor:
            if kept is None and len(self._pages) >= MOST_PAGES:
                del self._pages[next(iter(self._pages))]
            made = self._make_page(entries, layout, ends, viewer=viewer, next_cursor=next_cursor)
            kept = self._pages[viewer] = Page(entries, next_cursor, ends, *made)
        return kept.body, kept.etag

    def _make_page(
        self,
        entries: Sequence[Entry],
        layout: Layout,
        ends: int,
        *,
        viewer: AccountId,
        next_cursor: str | None,
    ) -> tuple[bytes, str]:
        cursor = msgspec.json.encode(next_cursor)
        parts, marks = [b'{"posts":['], [cursor]
        for entry in entries:
            pieces = self._pieces(entry, layout, ends)
            flags = _FLAGS[
                entry.has_liked << 3
                | entry.has_saved << 2
                | (pieces.card.author_id == viewer) << 1
                | (viewer in pieces.tagged)
            ]
            likes = b"null" if entry.like_count is None else b"%d" % entry.like_count
            parts.append(pieces.body % (likes, entry.comment_count, flags))
            marks.append(pieces.mark % (likes, entry.comment_count, flags))
        if entries:
            parts[-1] = parts[-1][:-1]  # the last has no comma after it
        parts.append(b'],"next_cursor":%b,"has_more":%b}' % (cursor, b"true" if next_cursor else b"false"))
        digest = hashlib.blake2b(b" ".join(marks), digest_size=TAG_BYTES).hexdigest()
        return b"".join(parts), f'"{digest}"'

    def _pieces(self, entry: Entry, layout: Layout, ends: int) -> Pieces:
        kept = self._kept.get(entry.card.id)
        if kept is None or not _fits(kept, entry, ends):
            if kept is None and len(self._kept) >= MOST_KEPT:
                del self._kept[next(iter(self._kept))]
            kept = self._kept[entry.card.id] = self._make(entry, layout, ends)
        return kept

    def _make(self, entry: Entry, layout: Layout, ends: int) -> Pieces:
        card = entry.card
        view = show_post(card, entry.people, layout, self._addresses, viewer=None, has_saved=False)
        head, rest = msgspec.json.encode(view).split(LIKES, 1)
        middle = rest[rest.index(CHOICES) : rest.rindex(FLAGS) + len(FLAGS)]
        others = _others(card)
        return Pieces(
            card=card,
            author=entry.author,
            author_shown=_shown(entry.author),
            others=others,
            names=_names(entry, others),
            tagged=frozenset(card.tagged_ids),
            ends=ends if entry.author.is_private else 0,
            body=_escaped(head + LIKES) + b"%b" + COMMENTS + b"%d" + _escaped(middle) + b"%b",
            mark=_escaped(hashlib.blake2b(head + middle, digest_size=TAG_BYTES).digest()) + b"%b %d %b",
        )


def _fits(kept: Pieces, entry: Entry, ends: int) -> bool:
    """Whether these pieces are still what would be made now. An account that only gained a follower changes nothing."""
    if kept.card is not entry.card or (kept.ends and kept.ends != ends):
        return False
    if kept.author is not entry.author:
        if kept.author_shown != _shown(entry.author):
            return False
        kept.author = entry.author
    return not kept.others or kept.names == _names(entry, kept.others)


def _escaped(text: bytes) -> bytes:
    """What stays as it is when something is filled in."""
    return text.replace(b"%", b"%%")


def _shown(author: Account) -> tuple[object, ...]:
    return (
        author.username,
        author.full_name,
        author.avatar_folder,
        author.is_verified,
        author.is_private,
    )


def _others(card: Post) -> tuple[AccountId, ...]:
    mentioned = (span.account_id for span in card.spans if span.account_id is not None)
    return tuple(dict.fromkeys((*card.tagged_ids, *mentioned)))


def _names(entry: Entry, others: Iterable[AccountId]) -> tuple[str | None, ...]:
    known = (entry.people.get(each) for each in others)
    return tuple(person.username if person else None for person in known)


def _flags(number: int) -> bytes:
    names = ("viewer_has_saved", "viewer_is_author", "viewer_is_tagged")
    said = ["true" if number & bit else "false" for bit in (8, 4, 2, 1)]
    rest = "".join(f',"{name}":{value}' for name, value in zip(names, said[1:], strict=True))
    return f"{said[0]}{rest}}},".encode()


_FLAGS = [_flags(number) for number in range(16)]
