"""Titles and descriptions: one line each, without characters that reorder the text around them, and not too long."""

from tintype.accounts import Account
from tintype.base.invisible_characters import remove_invisible
from tintype.posts import Place, Post

MAX_TITLE, MAX_DESCRIPTION = 120, 300
"""What the larger sites show of them at most, in characters."""


def one_line(text: str, limit: int) -> str:
    """The text on one line; a longer one ends with an ellipsis, at a word where there is one."""
    line = " ".join(remove_invisible(text).split())
    if len(line) <= limit:
        return line
    cut = line[: limit - 1]
    at_word = cut.rpartition(" ")[0]
    return (at_word if len(at_word) > limit // 2 else cut).rstrip() + "…"


def name_person(account: Account) -> str:
    """`Ana Lima (@ana)`, or `@ana` where no name is given."""
    name = one_line(account.full_name, MAX_TITLE - len(account.username) - 4)
    return f"{name} (@{account.username})" if name else f"@{account.username}"


def describe_post(post: Post) -> str:
    """The caption; else what the first picture shows, else where it was taken."""
    for text in (post.caption, *(each.alt_text for each in post.media[:1]), _name_of(post.place)):
        if line := one_line(text, MAX_DESCRIPTION):
            return line
    return ""


def describe_posts(count: int) -> str:
    """How many posts a hashtag or place has."""
    return "1 post" if count == 1 else f"{count:,} posts"


def _name_of(place: Place | None) -> str:
    return place.name if place else ""
