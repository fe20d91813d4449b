"""JSON fragments of posts: the part of a post's JSON that is the same for every viewer, rendered once.

Nearly all of a post's JSON is the same for everybody; rendering it for each viewer was most of the work of a feed. A
fragment is made by `show_post`, cut where the counts and the viewer's flags stand, and is good as long as the post, its
author and the people in it stay the same. Filled in, the bytes are those that `PostsView` would have given.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

import msgspec

from tintype.accounts import Account
from tintype.api.http.etags import TAG_BYTES
from tintype.api.views.context import ViewContext
from tintype.api.views.media import needs_signed_urls
from tintype.api.views.posts import show_post
from tintype.base.ids import AccountId
from tintype.feed import FeedEntry
from tintype.posts import Post

LIKES, COMMENTS, OPTIONS, FLAGS = (
    b',"like_count":',
    b',"comment_count":',
    b',"comments_enabled":',
    b',"viewer_has_liked":',
)
"""Where the JSON is cut. A caption cannot contain these: in a JSON string quotes are escaped."""


@dataclass(slots=True)
class PostFragment:
    """A post's JSON without counts and viewer's flags, and what it was rendered from."""

    post: Post
    author: Account
    author_shown: tuple[object, ...]
    others: tuple[AccountId, ...]
    usernames: tuple[str | None, ...]
    tagged: frozenset[AccountId]
    signature_expiry: int
    """When the signed URLs in it change; zero where none is signed."""
    body: bytes
    """The JSON as a format string, for the number of likes, the number of comments, and the viewer's flags."""
    digest: bytes
    """A hash of the JSON, as a format string for the same: the ETag of a page is made of these, not of its body."""

    @classmethod
    def render(cls, entry: FeedEntry, context: ViewContext, signature_expiry: int) -> "PostFragment":
        """Render a post for every viewer."""
        post = entry.cached_post
        head, rest = msgspec.json.encode(show_post(post, entry.people, context, has_saved=False)).split(
            LIKES, 1
        )
        middle = rest[rest.index(OPTIONS) : rest.rindex(FLAGS) + len(FLAGS)]
        others = _others(post)
        return cls(
            post=post,
            author=entry.author,
            author_shown=_shown(entry.author),
            others=others,
            usernames=_usernames(entry, others),
            tagged=frozenset(post.tagged_ids),
            signature_expiry=signature_expiry if needs_signed_urls(entry.author) else 0,
            body=_escape(head + LIKES) + b"%b" + COMMENTS + b"%d" + _escape(middle) + b"%b",
            digest=_escape(hashlib.blake2b(head + middle, digest_size=TAG_BYTES).digest()) + b"%b %d %b",
        )

    def is_current(self, entry: FeedEntry, signature_expiry: int) -> bool:
        """Whether rendering the entry again would give the same. An author who gained followers changes nothing."""
        if self.post is not entry.cached_post:
            return False
        if self.signature_expiry and self.signature_expiry != signature_expiry:
            return False
        if self.author is not entry.author:
            if self.author_shown != _shown(entry.author):
                return False
            self.author = entry.author
        return not self.others or self.usernames == _usernames(entry, self.others)

    def fill(self, entry: FeedEntry, viewer: AccountId) -> tuple[bytes, bytes]:
        """The post's JSON for a viewer, with a comma behind it, and what its ETag is made of."""
        flags = _FLAGS[
            entry.has_liked << 4
            | entry.has_saved << 3
            | (self.post.author_id == viewer) << 2
            | (viewer in self.tagged) << 1
            | entry.follows_author
        ]
        likes = b"null" if entry.like_count is None else b"%d" % entry.like_count
        filling = (likes, entry.comment_count, flags)
        return self.body % filling, self.digest % filling


def _escape(text: bytes) -> bytes:
    """The text as part of a format string."""
    return text.replace(b"%", b"%%")


def _shown(author: Account) -> tuple[object, ...]:
    """What a post shows of its author."""
    return (
        author.username,
        author.full_name,
        author.avatar_folder,
        author.is_verified,
        author.allows_downloads,
        author.is_private,
    )


def _others(post: Post) -> tuple[AccountId, ...]:
    mentioned = (span.account_id for span in post.spans if span.account_id is not None)
    return tuple(dict.fromkeys((*post.tagged_ids, *mentioned)))


def _usernames(entry: FeedEntry, ids: Iterable[AccountId]) -> tuple[str | None, ...]:
    people = (entry.people.get(each) for each in ids)
    return tuple(person.username if person else None for person in people)


def _flags(number: int) -> bytes:
    names = ("viewer_has_saved", "viewer_is_author", "viewer_is_tagged", "viewer_follows_author")
    values = ["true" if number & bit else "false" for bit in (16, 8, 4, 2, 1)]
    rest = "".join(f',"{name}":{value}' for name, value in zip(names, values[1:], strict=True))
    return f"{values[0]}{rest}}},".encode()


_FLAGS = [_flags(number) for number in range(32)]
